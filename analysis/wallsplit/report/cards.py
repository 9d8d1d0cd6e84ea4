"""The cards of the first screen: the few numbers worth a box."""

from collections.abc import Iterator, Mapping

from wallsplit import units
from wallsplit.accounts import GPU_ACCOUNTS, PART_OF, PARTS
from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Segment
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Ledger
from wallsplit.text import for_people
from wallsplit.why.samples.values import HostSamples
from wallsplit.words.amounts import between, counted, duration, per_cent
from wallsplit.words.clauses import NOUNS, idle_parts
from wallsplit.words.labels import ledger_label
from wallsplit.words.speakers import Speaker, speakers, worst

_WORTH = 0.001
"""Of the window: what is paid once is worth a card from here on."""


@dataclass(frozen=True)
class Card:
    """One of the few numbers worth a box."""

    title: str
    figure: str
    of: str
    """What the figure is a share of, or is measured in."""
    bar: Bar | None
    text: str


def cards(analysis: Analysis) -> Iterator[Card]:
    """Give the cards: once, steady, what can be won, between GPUs; others without a GPU and of many windows."""
    every = speakers(analysis)
    if not every:
        yield from _of_windows(analysis)
        return
    speaker = worst(every)
    if speaker.ledger.device is None:
        yield from _without_gpu(speaker)
        return
    of = f" of {ledger_label(analysis, speaker.ledger)}" if len(every) > 1 else ""
    yield from _once(speaker, of)
    yield _steady(speaker, of)
    yield _to_win(speaker, of)
    if len(every) > 1:
        yield _between_gpus(analysis, every)


def _bar(label: str, accounts: Mapping[str, int | None], *, device: bool = True, skip: str = "") -> Bar:
    """Return accounts as a bar of their parts; the part `skip` is the empty rest."""
    return Bar(
        label,
        tuple(
            Segment(
                "rest" if part.key == skip else part.key,
                part.title if device else part.without_device or part.title,
                sum(accounts[account] or 0 for account in part.accounts),
            )
            for part in sorted(PARTS, key=lambda part: part.key == skip)
        ),
    )


def _once(speaker: Speaker, of: str) -> Iterator[Card]:
    """Yield the card of what is paid once, where there is such a part."""
    scope, causes, phases = speaker.diagnosis.scope, speaker.diagnosis.causes, speaker.diagnosis.phases_of_run
    if scope is None or causes is None or speaker.outside_ns < _WORTH * speaker.ledger.wall_ns:
        return
    if phases:
        accounts: Mapping[str, int | None] = phases[0].accounts
        length, title = phases[0].end_ns - phases[0].start_ns, "Start-up and first steps · once"
    else:
        accounts = {name: ns for name, ns in speaker.ledger.accounts.items() if name not in GPU_ACCOUNTS}
        accounts = {**dict.fromkeys(GPU_ACCOUNTS, 0), **accounts}
        length, title = speaker.outside_ns, "Before the first GPU work, and after the last · once"
    outside = sorted(
        ((ns - scope.causes[cause], cause) for cause, ns in causes.items() if cause != "work"), reverse=True
    )
    largest = ", ".join(
        f"{NOUNS[cause]} {duration(ns)}" for ns, cause in outside[:3] if ns >= 0.01 * speaker.outside_ns
    )
    if phases and phases[2].end_ns - phases[2].start_ns >= 0.01 * speaker.outside_ns and largest:
        largest = f"with what comes after the steps: {largest}"  # the causes are known of both together
    inside = _range_inside(speaker)
    yield Card(
        f"{title}{of}",
        units.ns(length),
        f"{per_cent(length / speaker.ledger.wall_ns)} of the recording",
        _bar("once", accounts) if phases else None,
        f"{largest}{inside}",
    )


def _range_inside(speaker: Speaker) -> str:
    """Return the outermost range that start-up spends most of its time in."""
    course, phases = speaker.why.course, speaker.diagnosis.phases_of_run
    if course is None or not course.lanes or course.lanes_are_steps or not phases:
        return ""
    end = phases[0].end_ns
    inside = [(min(b.end_ns, end) - b.start_ns, b) for b in course.lanes[0] if b.start_ns < end and b.count == 1]
    if not inside:
        return ""
    length, longest = max(inside, key=lambda pair: pair[0])
    return f"; {duration(length)} in “{for_people(longest.name, 40)}”" if longest.end_ns <= end else ""


def _steady(speaker: Speaker, of: str) -> Card:
    phases, steps = speaker.diagnosis.phases_of_run, speaker.why.steps
    accounts: Mapping[str, int | None] = phases[1].accounts if phases else speaker.ledger.accounts
    busy = speaker.graph_share >= 0.5
    share = (speaker.ledger.busy_ratio or 0.0) if busy else speaker.share("work")
    least = "≥ " if speaker.ledger.gpu_complete is False else ""
    if phases and steps.kinds:
        count = sum(kind.steady_count for kind in steps.kinds) + (steps.other_kinds_count or 0)
        title, text = f"Steady · {counted(count, 'step')}", _kinds(speaker)
    else:
        title, text = "From the first to the last GPU operation", f"no steps: {for_people(steps.reason or '', 160)}"
        text = text if steps.reason else _kinds(speaker)
    return Card(
        f"{title}{of}",
        f"{least}{per_cent(share)}",
        "GPU busy" if busy else PART_OF["gpu.kernel"].title,
        _bar("steady", accounts),
        text,
    )


def _kinds(speaker: Speaker) -> str:
    """Return what the most frequent kinds of steps take."""
    kinds = speaker.why.steps.kinds or ()
    said = []
    for kind in kinds[:2]:
        name = for_people(kind.name.removesuffix(" #"), 40) if kind.name else "step"
        times = f", {kind.steady_count:,} ×" if len(kinds) > 1 else ""
        said.append(f"{name} {duration(kind.med_ns)} (95 % within {duration(kind.p95_ns)}){times}")
    return "; ".join(said)


def _to_win(speaker: Speaker, of: str) -> Card:
    phases = speaker.diagnosis.phases_of_run
    accounts: Mapping[str, int | None] = phases[1].accounts if phases else speaker.ledger.accounts
    of_what = "of the steady part" if phases else "of the time with GPU work"
    return Card(
        f"What removing all overhead can win{of}",
        f"≤ {per_cent(1 - speaker.share('work'))}",
        of_what,
        _bar("overhead", accounts, skip="computing"),
        idle_parts(speaker),
    )


def _between_gpus(analysis: Analysis, every: tuple[Speaker, ...]) -> Card:
    comm = [speaker.share("comm") for speaker in every]
    work = [speaker.share("work") for speaker in every]
    lowest = min(every, key=lambda speaker: speaker.share("work"))
    skew = analysis.explained.rank_skew if analysis.explained else None
    waits = {key: ns for key, ns in ((skew.wait_ns or {}) if skew else {}).items() if ns}
    text = f"computing {between(work)}, least on {ledger_label(analysis, lowest.ledger)}"
    if waits:
        longest = max(waits, key=lambda key: waits[key])
        pid, device = longest.split("/")
        who = next((x for x in analysis.ledgers if (str(x.pid), str(x.device)) == (pid, device)), None)
        name = ledger_label(analysis, who) if who else f"process {pid}"
        text += f"; {name} waits longest for the other ranks, {duration(waits[longest])}"
    return Card(f"Between the {counted(len(every), 'GPU')}", between(comm), "exposed communication", None, text)


def _without_gpu(speaker: Speaker) -> Iterator[Card]:
    """Yield the cards of a run of whose GPU work nothing is known, or that had none."""
    ledger, kinds = speaker.ledger, speaker.why.steps.kinds
    parts = {k: v for k, v in (ledger.host_parts or {}).items() if v}
    if ledger.accounts["cuda.launch"] is not None:
        on_cuda = ledger.wall_ns - (ledger.accounts["host"] or 0)
        yield Card("CUDA calls", units.ns(on_cuda), per_cent(on_cuda / ledger.wall_ns), _host_bar(ledger), "")
        yield Card("GPU", "not measured", "", None, "neither busy nor idle: no row tells")
    if parts:
        largest = max(parts, key=lambda part: parts[part])
        shares = sorted(parts.items(), key=lambda part: -part[1])[:4]
        text = ", ".join(f"{name.removeprefix('host.')} {per_cent(ns / ledger.wall_ns)}" for name, ns in shares)
        figure = per_cent(parts[largest] / ledger.wall_ns)
        yield Card("Host code", figure, largest.removeprefix("host."), None, text)
    if kinds:
        yield Card(f"Steps · {kinds[0].steady_count:,}", duration(kinds[0].med_ns), "median", None, _kinds(speaker))
    samples = speaker.why.host_samples
    if samples and samples.main.arithmetic and samples.main.enough:
        share = samples.main.arithmetic
        classes = ", ".join(f"{c.sample_class} {per_cent(c.share)}" for c in samples.main.classes[:3])
        yield Card(
            "What the CPU executed · estimated",
            between([share.at_least, share.at_most]),
            "arithmetic",
            None,
            f"{samples.main.sample_count:,} samples{_on_a_cpu(samples)}: {classes}",
        )


def _on_a_cpu(samples: HostSamples) -> str:
    """Return how much of the host's time the samples speak of: that in which the main thread was on a CPU."""
    scheduling = samples.main.scheduling
    share = scheduling.on_cpu_ns / samples.host_ns if scheduling and samples.host_ns else None
    return "" if share is None else f" of the {per_cent(share)} in which the main thread was on a CPU"


def _host_bar(ledger: Ledger) -> Bar:
    return _bar("all", ledger.accounts, device=False)


def _of_windows(analysis: Analysis) -> Iterator[Card]:
    """Yield the cards of many windows: median, 95th percentile, the slowest three."""
    ledgers = sorted((x for x in analysis.ledgers if x.window), key=lambda x: x.wall_ns)
    if not ledgers:
        return
    count = len(ledgers)
    p95 = ledgers[max(0, -(-95 * count // 100) - 1)].wall_ns
    slowest = [f"{units.ns(x.wall_ns)} at {units.ns(x.window.start_ns)}" for x in ledgers[:-4:-1] if x.window]
    med = (ledgers[(count - 1) // 2].wall_ns + ledgers[count // 2].wall_ns) / 2
    yield Card(f"{count:,} windows", duration(med), "median", None, f"95 % within {units.ns(p95)}")
    accounts = {name: sum(x.accounts[name] or 0 for x in ledgers) for name in ledgers[0].accounts}
    total = sum(x.wall_ns for x in ledgers)
    yield Card("All together", units.ns(total), "", _bar("windows", accounts), "")
    yield Card("The slowest", units.ns(ledgers[-1].wall_ns), "", None, ", ".join(slowest))
