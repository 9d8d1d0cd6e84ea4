"""Launching: what a launch costs, how long work queues, and how far ahead the host is."""

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.report.document import AtLeast, AtMost, Block, Cell, Column, Paragraph, Section
from wallsplit.report.sections.explained import Subject, facts, left_out, shown, subjects
from wallsplit.why.launch import Launch

_SPREADS = (
    ("api", "launch call", "The host is inside the call."),
    ("first", "first launch of a kernel or graph", "Code is loaded inside it."),
    ("latency", "call to GPU", "From the call's start to the start of its work."),
    ("queue", "in the queue", "From the call's end to the start of its work, where that comes later."),
)
_COLUMNS = (
    Column("what"),
    Column("count", "count"),
    Column("median", "ns"),
    Column("95th percentile", "ns"),
    Column("99th percentile", "ns"),
    Column("max", "ns"),
    Column("total", "ns"),
    Column("what it says"),
)
_DEPTHS = (
    ("empty_ns", "nothing", "the GPU has nothing to do: the host is late"),
    ("one_ns", "one", "the GPU works on what was launched last"),
    ("shallow_ns", "2 to 31", "the host is ahead"),
    ("deep_ns", "32 and more", "the host is far ahead: launches cost nothing"),
)


def launching(analysis: Analysis, _top: int) -> Section | None:
    """Return how work reaches the GPU of each ledger; None without a launch."""
    every = [subject for subject in subjects(analysis) if subject.why.launch]
    blocks = [block for subject in shown(every) if subject.why.launch for block in _of(subject, subject.why.launch)]
    return Section("launching", "Launching", (*blocks, *left_out(every))) if blocks else None


def _of(subject: Subject, how: Launch) -> list[Block]:
    spreads = ((title, getattr(how, name), said) for name, title, said in _SPREADS)
    rows: list[tuple[Cell, ...]] = [
        (title, x.count, x.med_ns, x.p95_ns, x.p99_ns, x.max_ns, x.total_ns, said) for title, x, said in spreads if x
    ]
    return [
        facts(f"Launches of {subject.label}", _COLUMNS, rows),
        _depth(subject, how),
        *(Paragraph(text) for text in _sentences(how)),
    ]


def _depth(subject: Subject, how: Launch) -> Block:
    bounded = subject.ledger.api_complete is False  # work without a call is not counted as pending
    wall = subject.ledger.wall_ns
    rows: list[tuple[Cell, ...]] = []
    for name, title, said in _DEPTHS:
        time = getattr(how.depth, name)
        cells: tuple[Cell, ...] = (time, time / wall)
        if bounded:
            bound = AtMost if name == "empty_ns" else AtLeast
            cells = (bound(time), bound(time / wall)) if name in ("empty_ns", "deep_ns") else cells
        rows.append((title, *cells, said))
    columns = (Column("pending"), Column("time", "ns"), Column("of window", "ratio"), Column("what it says"))
    caption = f"Operations handed over and not done, {subject.label}: {how.depth.mean:,.1f} on average"
    return facts(f"{caption}, {units.count(how.depth.max)} at most", columns, rows)


def _sentences(how: Launch) -> list[str]:
    said = []
    if how.small.kernel_med_ns is not None:
        shares = (
            (how.small.under_10us_ratio, "under 10 µs"),
            (how.small.shorter_than_call_ratio, "shorter than their call"),
        )
        parts = [f"{units.ratio(share)} {what}" for share, what in shares if share is not None]
        said.append(f"Kernels last {units.ns(how.small.kernel_med_ns)} (median): {', '.join(parts)}.")
    if how.per_step_med:
        said.append(f"Launches per step: {how.per_step_med:,.0f} (median).")
    if how.backpressure.count:
        depth = f", with {how.backpressure.depth_med:,.0f} pending (median)" if how.backpressure.depth_med else ""
        said.append(
            f"{units.count(how.backpressure.count)} launches waited for room in a full queue, "
            f"{units.ns(how.backpressure.total_ns)} in all{depth}: the host is ahead, which costs nothing by itself."
        )
    if how.graph_saving_upper_ns:
        said.append(f"CUDA graphs could save at most {units.ns(how.graph_saving_upper_ns)} of the window.")
    return said
