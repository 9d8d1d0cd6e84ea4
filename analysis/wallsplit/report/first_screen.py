"""What a person sees first: the verdict, the picture of time, three cards, what to do."""

from wallsplit.analysis import Analysis
from wallsplit.figures.course import course
from wallsplit.figures.drawing import Figure
from wallsplit.figures.step_chart import StepChart, step_chart
from wallsplit.figures.strip import Strip, strips
from wallsplit.frozen import dataclass
from wallsplit.report.cards import Card, cards
from wallsplit.text import for_people
from wallsplit.words.advice import Advice, advice
from wallsplit.words.amounts import counted, how_many
from wallsplit.words.seconds import seconds
from wallsplit.words.speakers import speakers
from wallsplit.words.verdict import verdict


@dataclass(frozen=True, eq=False)
class FirstScreen:
    """Everything that fits on one screen; the report is the evidence."""

    context: str
    """Where this was recorded, and with what."""
    verdict: str
    seconds: str
    strips: tuple[Strip, ...]
    picture: Figure | None
    """The strips, for pages that cannot draw them."""
    steps: StepChart | None
    cards: tuple[Card, ...]
    advice: tuple[Advice, ...]
    warning: str
    """What must be known before the numbers are believed; empty where there is nothing."""
    left_out: str
    """What was not recorded and what was not used; empty where there is nothing."""


def first_screen(analysis: Analysis) -> FirstScreen:
    """Return the first screen of an analysis."""
    shown = strips(analysis)
    return FirstScreen(
        context=context(analysis),
        verdict=verdict(analysis),
        seconds=seconds(analysis),
        strips=shown,
        picture=course(shown, "The run from its start to its end; 0 s is the start of the recording"),
        steps=step_chart(analysis) if len(shown) <= 1 else None,  # of several GPUs the section on steps has it
        cards=tuple(cards(analysis)),
        advice=advice(analysis),
        warning=_warning(analysis),
        left_out=_left_out(analysis),
    )


def context(analysis: Analysis) -> str:
    """Return the GPUs and the profiler in one line."""
    names = [name.removeprefix("NVIDIA ").removeprefix("GeForce ") for name in analysis.gpus["name"].drop_nulls()]
    counts = {name: names.count(name) for name in names}
    gpus = [
        f"{count} × {for_people(name, 60)}" if count > 1 else for_people(name, 60) for name, count in counts.items()
    ]
    missing = analysis.gpus.height - len(names)
    if missing:
        gpus.append(f"{counted(missing, 'GPU')} without a name")
    version = f"nsys {'.'.join(analysis.nsys_version.split('.')[:2])}" if analysis.nsys_version else ""
    return " · ".join(part for part in (*gpus, for_people(version, 40)) if part)


def _warning(analysis: Analysis) -> str:
    """Return the gravest note in one sentence, and how many more there are."""
    levels = ("error", "warning")
    grave = sorted(
        (n for n in analysis.notes if n.level in levels and n.kind != "reconstructed"),
        key=lambda note: levels.index(note.level),
    )
    if not grave:
        return ""
    more = f"; {how_many(len(grave) - 1)} more in the notes" if len(grave) > 1 else ""
    return f"{grave[0].level.capitalize()}: {for_people(grave[0].text.split('. ')[0].rstrip('.'), 300)}{more}."


def _left_out(analysis: Analysis) -> str:
    """Return one line on what was not recorded and what was not used."""
    every = speakers(analysis)
    is_known = any(speaker.why.course for speaker in every)
    missing = []
    if every and analysis.explained and analysis.explained.cpu_sampling is None:
        missing.append("CPU samples")
    groups = analysis.tables.get("nvtx_groups")
    if is_known and groups is not None and groups.is_empty():
        missing.append("NVTX ranges")
    if any(speaker.graph_share > 0 for speaker in every):
        missing.append("the inside of CUDA graphs")
    said = [f"Not recorded: {', '.join(missing)}."] if missing else []
    if analysis.not_used:
        said.append(f"Not used: {counted(len(analysis.not_used), 'table')} of the export.")
    messages = analysis.tables.get("nsys_messages")
    if messages is not None and messages.height:
        have = "has a section of its" if messages.height == 1 else "have a section of their"
        said.append(f"{counted(messages.height, 'message')} of nsys {have} own.".capitalize())
    return " ".join(said)
