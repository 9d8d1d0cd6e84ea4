"""The cards of the first screen: the few numbers worth a box."""

from collections.abc import Iterator, Mapping

from wallsplit import units
from wallsplit.accounts import HOST, PART_OF, PARTS
from wallsplit.analysis import Analysis
from wallsplit.diagnosis.diagnosis import Finding, PhaseOfRun
from wallsplit.diagnosis.paid_once import LOADING
from wallsplit.figures.bars import Bar, Segment
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Ledger
from wallsplit.text import for_people
from wallsplit.why.samples.values import HostSamples
from wallsplit.words.amounts import between, counted, duration, per_cent, some_of
from wallsplit.words.clauses import NOUNS, idle_parts
from wallsplit.words.headline import why_without_gpu
from wallsplit.words.labels import ledger_label
from wallsplit.words.speakers import Speaker, speakers, worst

_WORTH = 0.001
"""Of the window: what is paid once is worth a card from here on."""
_PARTS_NAMED, _WORTH_NAMING = 3, 0.01
"""Of what is paid once: so many parts are named, none smaller than that share."""
_WORTH_A_RANGE = 0.1
"""Of start-up: a range that takes less of it says little."""


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
    on_gpu = f" on {ledger_label(analysis, speaker.ledger)}" if len(every) > 1 else ""
    yield from _once(speaker, on_gpu)
    yield _steady(speaker, on_gpu)
    yield _to_win(speaker, on_gpu)
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


def _once(speaker: Speaker, on_gpu: str) -> Iterator[Card]:
    """Yield the card of what is paid once, where there is such a part: the verdict's number and the advice's.

    They differ where start-up is not what was found: then it is all until the steps are steady, computing too.
    """
    once, phases, length = speaker.paid_once, speaker.diagnosis.phases_of_run, speaker.start_up_ns
    if once is None or max(once.prize_upper_ns, length) < _WORTH * speaker.ledger.wall_ns:
        return
    is_phase = phases is not None and not speaker.finding("startup")
    title = "Start-up and first steps" if is_phase else "Loading code" if speaker.loads_code else "Start-up"
    said_already = duration(once.prize_upper_ns) == duration(length)
    idle = "GPU idle" if said_already else f"GPU idle {duration(once.prize_upper_ns)}"
    yield Card(
        f"{title}{on_gpu} · once",
        units.ns(length),
        f"{per_cent(length / speaker.ledger.wall_ns)} of the recording",
        _bar_paid_once(phases, is_phase=is_phase) if phases else None,
        f"{idle} {_around_scope(speaker, once)}: {_parts_paid_once(once)}{_range_inside(speaker)}",
    )


def _bar_paid_once(phases: tuple[PhaseOfRun, ...], *, is_phase: bool) -> Bar:
    """Return the bar of the phase, or of all outside the steady steps with the time the GPU computes left empty."""
    if is_phase:
        return _bar("once", phases[0].accounts)
    outside = {name: ns + phases[2].accounts[name] for name, ns in phases[0].accounts.items()}
    return _bar("once", outside, skip="computing")


def _parts_paid_once(once: Finding) -> str:
    """Return its largest parts and the rest, which add up to it."""
    parts = sorted((once.parts or {}).items(), key=lambda part: -part[1])
    least = _WORTH_NAMING * once.prize_upper_ns
    named = [(cause, ns) for cause, ns in parts[:_PARTS_NAMED] if ns >= least]
    rest = once.prize_upper_ns - sum(ns for _, ns in named)
    other = [f"other {duration(rest)}"] if rest >= least else []
    return ", ".join([*(f"{NOUNS[cause]} {duration(ns)}" for cause, ns in named), *other])


def _around_scope(speaker: Speaker, once: Finding) -> str:
    """Return where what is paid once lies: `before and after the steady steps`, `before its first work and between`."""
    scope, phases, parts = speaker.diagnosis.scope, speaker.diagnosis.phases_of_run, once.parts or {}
    least = _WORTH_NAMING * once.prize_upper_ns
    loads_inside = scope is not None and sum(scope.causes[cause] for cause in LOADING) >= least
    if phases:
        before, after = (phase.end_ns - phase.start_ns >= least for phase in (phases[0], phases[2]))
        return f"{_listed([('before', before), ('after', after), ('in', loads_inside)])} the steady steps"
    before, after = (parts.get(cause, 0) >= least for cause in ("startup", "teardown"))
    between = "between" if before or after else "between its first and its last work"
    return _listed([("before its first work", before), ("after its last", after), (between, loads_inside)])


def _listed(words: list[tuple[str, bool]]) -> str:
    """Return those that hold: `before, after and in`."""
    said = [word for word, holds in words if holds]
    return " and ".join([*([", ".join(said[:-1])] if said[:-1] else []), *said[-1:]])


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
    if longest.end_ns > end or length < _WORTH_A_RANGE * speaker.start_up_ns:
        return ""
    return f"; {duration(length)} in “{for_people(longest.name, 40)}”"


def _steady(speaker: Speaker, on_gpu: str) -> Card:
    phases, steps = speaker.diagnosis.phases_of_run, speaker.why.steps
    accounts: Mapping[str, int | None] = phases[1].accounts if phases else speaker.ledger.accounts
    busy = speaker.graph_share >= 0.5
    share = (speaker.ledger.busy_ratio or 0.0) if busy else speaker.share("work")
    least = "≥ " if speaker.ledger.gpu_complete is False else ""
    if phases and steps.kinds:
        title, text = f"Steady{on_gpu} · {some_of(steps.steady_count, steps.count, 'step')}", _kinds(speaker)
    else:
        title, text = (
            f"From the first to the last operation{on_gpu or ' on the GPU'}",
            f"no steps: {for_people(steps.reason or '', 160)}",
        )
        text = text if steps.reason else _kinds(speaker)
    return Card(
        title,
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


def _to_win(speaker: Speaker, on_gpu: str) -> Card:
    phases = speaker.diagnosis.phases_of_run
    accounts: Mapping[str, int | None] = phases[1].accounts if phases else speaker.ledger.accounts
    of_what = "of the steady part" if phases else "of the time with GPU work"
    return Card(
        f"What removing all overhead can win{on_gpu}",
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
    parts = {k: ns for k, ns in (ledger.host_parts or {}).items() if ns >= _WORTH * ledger.wall_ns}
    if ledger.accounts["cuda.launch"] is not None:
        on_cuda = f"{per_cent(speaker.on_cuda_ns / ledger.wall_ns)} of the recording"
        yield Card("CUDA calls", units.ns(speaker.on_cuda_ns), on_cuda, _host_bar(ledger), "")
        yield Card("GPU", "no work" if ledger.gpu_complete else "not measured", "", None, why_without_gpu([ledger]))
    if parts:
        largest = max(parts, key=lambda part: parts[part])
        shares = sorted(parts.items(), key=lambda part: -part[1])[:4]
        text = ", ".join(f"{name.removeprefix('host.')} {per_cent(ns / ledger.wall_ns)}" for name, ns in shares)
        if ledger.accounts["cuda.launch"] is not None:
            share = (ledger.accounts[HOST] or 0) / ledger.wall_ns
            yield Card("Host code", per_cent(share), "of the recording", None, text)
        else:
            figure = per_cent(parts[largest] / ledger.wall_ns)
            yield Card("Host code", figure, largest.removeprefix("host."), None, text if len(parts) > 1 else "")
    if kinds:
        counted_steps = some_of(kinds[0].steady_count, speaker.why.steps.count, "step").capitalize()
        yield Card(counted_steps, duration(kinds[0].med_ns), "median", None, _kinds(speaker))
    samples = speaker.why.host_samples
    if samples and samples.main.arithmetic and samples.main.enough:
        estimate = samples.main.arithmetic
        classes = ", ".join(f"{c.sample_class} {per_cent(c.share)}" for c in samples.main.classes[:3])
        yield Card(
            "What the CPU executed · estimated",
            between([estimate.at_least, estimate.at_most]),
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
