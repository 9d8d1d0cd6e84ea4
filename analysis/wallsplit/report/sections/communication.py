"""Communication: what nothing hides, and which rank the others wait for."""

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.report.document import Block, Column, Paragraph, Section
from wallsplit.report.sections.explained import facts, subjects
from wallsplit.text import shorten
from wallsplit.why.comm import RankSkew

_COLUMNS = (
    Column("ledger"),
    Column("kernels", "count"),
    Column("in all", "ns"),
    Column("hidden", "ns"),
    Column("exposed", "ns"),
    Column("exposed, of window", "ratio"),
    Column("in all, waiting for later ranks", "ns", "not known"),
)
NAMED = 3


def communication(analysis: Analysis, _top: int) -> Section | None:
    """Return hidden and exposed communication of each ledger and the skew between ranks; None without any."""
    every = [(subject, subject.why.comm) for subject in subjects(analysis) if subject.why.comm]
    if not every:
        return None
    skew = every[0][0].explained.rank_skew
    waits = (skew.wait_ns or {}) if skew else {}
    rows = []
    names: dict[str, int] = {}
    for subject, kernels in every:
        waited = waits.get(f"{subject.ledger.pid}/{subject.ledger.device}")
        exposed = kernels.exposed_ns / subject.ledger.wall_ns
        rows.append(
            (subject.label, kernels.count, kernels.union_ns, kernels.hidden_ns, kernels.exposed_ns, exposed, waited)
        )
        for name, number in kernels.by_name.items():
            names[name] = names.get(name, 0) + number
    most = sorted(names.items(), key=lambda item: (-item[1], item[0]))[:NAMED]
    listed = ", ".join(f"{shorten(name)} ({units.count(number)})" for name, number in most)
    blocks: list[Block] = [
        facts("Communication kernels", _COLUMNS, rows),
        Paragraph(
            "Hidden: something computes on the same GPU meanwhile. Exposed: nothing does, and the run is longer for "
            f"it. Kernels, most first: {listed}."
        ),
    ]
    return Section("communication", "Communication", (*blocks, *([Paragraph(_skew(skew))] if skew else [])))


def _skew(skew: RankSkew) -> str:
    if skew.start_skew is None:
        return f"Ranks cannot be compared: {skew.reason or 'none of their kernels overlap'}."
    out = f"; {units.count(skew.not_overlapping)} that do not overlap are left out" if skew.not_overlapping else ""
    return (
        f"{units.count(skew.matched)} collectives are matched between the ranks{out}. From the first rank's start to "
        f"the last one's: {units.ns(skew.start_skew.med_ns)} (median), {units.ns(skew.start_skew.max_ns)} at most. "
        "A kernel that waits for another rank works for nobody."
    )
