"""What the CPU executed: estimates from samples, beside the ledger and never part of its sum."""

from collections.abc import Iterator, Mapping, Sequence

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.report.document import Block, Cell, Column, Paragraph, Section, Table
from wallsplit.why.samples.classes import CLASSES
from wallsplit.why.samples.values import (
    ArithmeticShare,
    ClassShare,
    CpuSampling,
    HostSamples,
    Scheduling,
    Summary,
    Wall,
)
from wallsplit.words.labels import ledger_label

MOST = 8
"""Ledgers shown: more say less."""
FEW = "too few"
MOSTLY = 0.9
"""A thread on a CPU for less of the time than this: shares of its samples say little about the wall time."""

_MEANINGS = {each.name: each.meaning for each in CLASSES}
_CLASS_COLUMNS = (
    Column("class"),
    Column("samples", "count"),
    Column("share", "ratio", FEW),
    Column("95 % interval", null=FEW),
    Column("CPU time, estimated", "ns", "not known"),
    Column("most of it in"),
    Column("called for by"),
    Column("what it is"),
)
_RANGE_COLUMNS = (
    Column("innermost range"),
    Column("host", "ns"),
    Column("on a CPU", "ns", "not measured"),
    Column("samples", "count"),
    Column("arithmetic", null=FEW),
    Column("classes"),
    Column("samples of other threads", "count"),
)
_WALL_COLUMNS = (Column("who"), Column("what"), Column("time, estimated", "ns"), Column("of host", "ratio", ""))
_FUNCTION_COLUMNS = (
    Column("function", null="(no name)"),
    Column("file", null="–"),
    Column("class"),
    Column("samples", "count"),
    Column("of samples", "ratio"),
)
_ACCOUNT_COLUMNS = (Column("account"), Column("samples", "count"), Column("classes"))
_THREAD_COLUMNS = (
    Column("threads"),
    Column("samples", "count"),
    Column("CPU time, estimated", "ns"),
    Column("classes"),
)


def cpu_samples(analysis: Analysis, top: int) -> Section | None:
    """Return what the samples say about each ledger; None without any."""
    if analysis.explained is None or analysis.explained.cpu_sampling is None:
        return None
    reasons = zip(analysis.ledgers, analysis.explained.ledgers, strict=True)
    sampled = [(ledger_label(analysis, ledger), why.host_samples) for ledger, why in reasons]
    ledgers = [(label, samples) for label, samples in sampled if samples]
    return section(analysis.explained.cpu_sampling, ledgers, top) if ledgers else None


def section(facts: CpuSampling, ledgers: Sequence[tuple[str, HostSamples]], top: int) -> Section:
    """Return what the samples say about each ledger, given with its label."""
    blocks: list[Block] = [block for label, samples in ledgers[:MOST] for block in _ledger(facts, label, samples, top)]
    if len(ledgers) > MOST:
        left_out = f"The first {MOST} of {len(ledgers)} ledgers with samples; the JSON output has all."
        blocks.append(Paragraph(left_out, essential=True))
    return Section("cpu_samples", "What the CPU executed", (*blocks, Paragraph(how_sampled(facts))))


def _ledger(facts: CpuSampling, label: str, samples: HostSamples, top: int) -> Iterator[Block]:
    yield Paragraph(in_words(label, samples), essential=True)
    if samples.main.classes:
        yield _classes(samples.main, f"Estimated from {_samples(samples.main.sample_count)}: main thread of {label}")
    if samples.main.scheduling:
        yield Paragraph(_on_and_off(samples.main.scheduling, facts))
    if samples.wall and samples.main.enough:
        yield _wall(samples.wall, samples, f"Estimated: the host time of {label} put together")
    yield from _others(samples, label)
    if samples.phases:
        yield _ranges(samples, label, top)
    if samples.functions:
        yield _functions(samples, label, top)
    if samples.accounts.keys() - {"host"}:
        yield _accounts(samples.accounts, label)
    yield Paragraph(_known(samples))


def in_words(label: str, samples: HostSamples) -> str:
    """Return what the main thread executed while the ledger books host, as a sentence or two."""
    main = samples.main
    name = f" ({samples.main_thread.name})" if samples.main_thread.name else ""
    where = f"In {units.ns(samples.host_ns)} of host of {label}, the main thread{name}"
    if not main.enough:
        seen = f": {listed(main)}; too few for shares" if main.classes else ""
        return f"{where} was sampled {_times(main.sample_count)}{seen}."
    largest = [each for each in main.classes if each.sample_class != "profiler"][:3]
    parts = [f"{each.sample_class} {between(each.low, each.high)}" for each in largest]
    said = f"{where}{_on_a_cpu(samples)}, estimated from {_samples(main.sample_count)}: {', '.join(parts)}."
    if main.arithmetic and not any(each.sample_class == "arithmetic" for each in largest[:1]):
        said += f" {_arithmetic(main.arithmetic)}."
    return said + _measuring(main) + _not_seen(main)


def _on_a_cpu(samples: HostSamples) -> str:
    """Return " executed", with the time it had for that where it had far less than there was: shares are of that."""
    scheduling = samples.main.scheduling
    if scheduling is None or scheduling.on_cpu_ns >= MOSTLY * samples.host_ns:
        return " executed"
    return f" was on a CPU for {units.ns(scheduling.on_cpu_ns)} and executed there"


def _arithmetic(share: ArithmeticShare) -> str:
    unnamed = ", code that does not say what it is included" if share.with_unnamed - share.named > 0.01 else ""
    return f"Arithmetic is {between(share.at_least, share.at_most)} of it{unnamed}"


def _measuring(main: Summary) -> str:
    """Return what measuring took: it is no part of the program."""
    profiler = [each for each in main.classes if each.sample_class == "profiler"]
    return f" Measuring itself took {between(profiler[0].low, profiler[0].high)} of it." if profiler else ""


def _not_seen(main: Summary) -> str:
    absent = [name for name in _MEANINGS if name not in {each.sample_class for each in main.classes}]
    if not absent or main.absent_below is None:
        return ""
    each = "each " if len(absent) > 1 else ""
    return f" No sample of {', '.join(absent)} ({each}below {units.fine_ratio(main.absent_below)})."


def between(low: float, high: float) -> str:
    """Return the ends of an interval in whole per cents; one number where they are no more than a point apart."""
    if high - low <= 0.01:
        return units.ratio((low + high) / 2)
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def _classes(main: Summary, caption: str) -> Table:
    rows = tuple(_class_row(each, enough=main.enough) for each in main.classes)
    return Table(caption, _CLASS_COLUMNS, rows, len(rows))


def _class_row(share: ClassShare, *, enough: bool) -> tuple[Cell, ...]:
    interval = (share.share, between(share.low, share.high)) if enough else (None, None)
    return (
        share.sample_class,
        share.count,
        *interval,
        share.cpu_ns,
        _counts(share.groups, 3),
        _counts(share.callers, 3),
        _MEANINGS[share.sample_class],
    )


def _on_and_off(scheduling: Scheduling, facts: CpuSampling) -> str:
    on, off = units.ns(scheduling.on_cpu_ns), units.ns(scheduling.off_cpu_ns)
    parts = [f"The scheduler had the main thread on a CPU for {on} of it and off for {off}"]
    if scheduling.off_cpu_in_os_call_ns is not None and scheduling.off_cpu_elsewhere_ns is not None:
        parts.append(
            f"of that {units.ns(scheduling.off_cpu_in_os_call_ns)} inside an OS call, where it waits or sleeps, and "
            f"{units.ns(scheduling.off_cpu_elsewhere_ns)} elsewhere: others had the CPU, a page was missing, or the "
            "call was not traced"
        )
    if scheduling.unknown_ns:
        parts.append(f"for {units.ns(scheduling.unknown_ns)} it is not known")
    if scheduling.unsampled_ns is not None:
        least = max(0.02 * scheduling.on_cpu_ns, 10 * (facts.period_ns or 0))
        lost = "about 0" if abs(scheduling.unsampled_ns) < least else units.ns(scheduling.unsampled_ns)
        what = "lost samples" if facts.kernel_sampled else "time in the kernel, which was not sampled, and lost samples"
        parts.append(f"on a CPU but in no sample: {lost} ({what})")
    return f"{'; '.join(parts)}. Off the CPU on a machine shared with others may be their doing."


def _wall(wall: Wall, samples: HostSamples, caption: str) -> Table:
    parts = [("main thread", name, ns) for name, ns in wall.main.items()]
    parts += [("main thread", "in the kernel, or lost samples", wall.unsampled_ns)]
    parts += [("others, main thread off the CPU", name, ns) for name, ns in wall.meanwhile.items()]
    parts += [("nobody on a CPU", "waiting", wall.nobody_on_cpu_ns), ("not known", "", wall.unknown_ns)]
    whole = samples.host_ns
    rows = tuple((who, what, ns, ns / whole if whole else None) for who, what, ns in parts if ns)
    return Table(caption, _WALL_COLUMNS, rows, len(rows))


def _others(samples: HostSamples, label: str) -> Iterator[Table]:
    """Yield what other threads executed; CPU time of several threads is no wall time."""
    scopes: list[tuple[str, Summary | None]] = [
        ("others, while the main thread was off the CPU", samples.main.meanwhile),
        ("other driving threads", samples.other_driving),
        ("other threads", samples.not_driving),
    ]
    rows = tuple(
        (name, scope.sample_count, scope.cpu_ns, listed(scope)) for name, scope in scopes if scope and scope.classes
    )
    if rows:
        yield Table(f"Other threads of {label}, in host (never added up)", _THREAD_COLUMNS, rows, len(rows))


def _ranges(samples: HostSamples, label: str, top: int) -> Table:
    shown = [phase for phase in samples.phases if phase.host_ns]
    rows = tuple(
        (
            phase.range,
            phase.host_ns,
            phase.on_cpu_ns,
            phase.main.sample_count,
            between(phase.main.arithmetic.at_least, phase.main.arithmetic.at_most)
            if phase.main.enough and phase.main.arithmetic
            else None,
            listed(phase.main),
            phase.others_count,
        )
        for phase in shown[:top]
    )
    return Table(f"Host time of {label} by the main thread's innermost range", _RANGE_COLUMNS, rows, len(shown))


def _functions(samples: HostSamples, label: str, top: int) -> Table:
    functions = samples.functions
    rows = tuple((f.symbol or None, f.module, f.sample_class, f.count, f.share) for f in functions[:top])
    return Table(f"Functions the main thread of {label} was seen in, in host", _FUNCTION_COLUMNS, rows, len(functions))


def _accounts(accounts: Mapping[str, Mapping[str, int]], label: str) -> Table:
    rows = tuple((account, sum(classes.values()), _counts(classes)) for account, classes in accounts.items())
    return Table(f"Main thread of {label}, whole window: samples by account", _ACCOUNT_COLUMNS, rows, len(rows))


def listed(summary: Summary) -> str:
    """Return the classes of a summary with their counts, and with their intervals where there are enough samples."""
    if not summary.enough:
        return ", ".join(f"{each.sample_class} {each.count:,}" for each in summary.classes)
    return ", ".join(f"{each.sample_class} {each.count:,} ({between(each.low, each.high)})" for each in summary.classes)


def _known(samples: HostSamples) -> str:
    count = samples.main.sample_count
    said = (
        f"Of the main thread's {_samples(count)}, {samples.unresolved_count:,} are in functions without a name, and "
        f"of {samples.chain_count:,} the callers are known."
    )
    return " ".join([said, *(f"{warning[:1].upper()}{warning[1:]}." for warning in samples.warnings)])


def how_sampled(facts: CpuSampling) -> str:
    """Return how the samples were taken, and what shares are and are not."""
    trigger = facts.trigger or "not recorded"
    period = (
        f"about every {units.ns(facts.period_ns)} of a thread's CPU time" if facts.period_ns else "at times unknown"
    )
    chains = f"every {facts.backtrace_every}th with its callers" if facts.backtrace_every else "callers as recorded"
    return (
        f"{facts.capture_sample_count:,} samples in all, {period}; trigger {trigger}, {chains}; the kernel was "
        f"{'' if facts.kernel_sampled else 'not '}sampled. Shares are estimates: they stand beside the ledger, and no "
        "account changes by them. An interval holds the true share in 95 of 100 recordings; a loop in step with the "
        "period may escape it. Two runs differ where their intervals do not overlap."
    )


def _counts(counts: Mapping[str, int], most: int = len(CLASSES)) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in list(counts.items())[:most])


def _samples(count: int) -> str:
    return f"{count:,} sample{'' if count == 1 else 's'}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times" if count else "never"
