"""The ranks of one run become one report."""

from dataclasses import asdict
from typing import Any

from wallsplit.comparison.across_ranks import Ranks
from wallsplit.figures.bars import Bars
from wallsplit.figures.drawing import Figure, stacked
from wallsplit.figures.ledger import MOST, bar
from wallsplit.note import Note
from wallsplit.report.document import Column, Paragraph, Remarks, Report, Section, Table
from wallsplit.text import for_people
from wallsplit.words.rank_sentences import clock_warnings, rank_label, ranks_sentence

STEM = "ranks"
_NOT_TOLD = "not told"
_BAR_LABEL = 24
"""Characters of a rank's label beside its bar; shortened in the middle, as the end tells ranks of one trace apart."""


def ranks_report(ranks: Ranks, top: int) -> Report:
    """Return what there is to say about the ranks of a run; long tables cut to their first `top` rows."""
    warnings = clock_warnings(ranks)
    remarks = (Remarks(tuple(Note("comparison", "warning", text) for text in warnings)),) if warnings else ()
    clocks = Paragraph(f"{ranks.clocks.told[:1].upper()}{ranks.clocks.told[1:]}.", essential=not warnings)
    sections = [Section("ranks", "Rank by rank", (_ranks(ranks, top), clocks, *remarks))]
    if ranks.by_name:
        sections.append(Section("collectives", "Collectives", (_collectives(ranks, top),)))
    return Report(
        title=f"{len(ranks.ranks)} ranks",
        headline=ranks_sentence(ranks),
        figure=_figure(ranks),
        sections=tuple(sections),
        source=f"{len(ranks.ranks)} traces of NVIDIA Nsight Systems",
    )


def _figure(ranks: Ranks) -> Figure:
    shown = ranks.ranks[:MOST]
    bars = Bars(
        tuple(bar(for_people(rank.label, _BAR_LABEL), rank.ledger) for rank in shown),
        max(rank.ledger.wall_ns for rank in shown),
    )
    return Figure(
        name="ledger",
        section="headline",
        caption="Where each rank's time went, from its first matched collective to its last",
        alt="; ".join(each.in_words for each in bars.bars),
        draw=lambda: stacked(bars),
        bars=bars,
    )


def _ranks(ranks: Ranks, top: int) -> Table:
    columns = (
        Column("rank", brief=True),
        Column("wall", "ns"),
        Column("computing", "ns", brief=True),
        Column("communicating", "ns"),
        Column("exposed", "ns", brief=True),
        Column("waiting", "ns", _NOT_TOLD, brief=True),
        Column("last at", "count", _NOT_TOLD, brief=True),
        Column("holds up", "ns", _NOT_TOLD, brief=True),
    )
    rows = tuple(
        (
            rank_label(rank),
            rank.ledger.wall_ns,
            rank.compute_ns,
            rank.comm_ns,
            rank.comm_exposed_ns,
            rank.wait_ns,
            rank.came_last,
            rank.holds_up_ns,
        )
        for rank in ranks.ranks[:top]
    )
    caption = "Exposed: communication with nothing computed meanwhile, waiting for other ranks included"
    return Table(caption, columns, rows, len(ranks.ranks), essential=True)


def _collectives(ranks: Ranks, top: int) -> Table:
    columns = (
        Column("collective"),
        Column("count", "count"),
        Column("skew, median", "ns"),
        Column("skew, 95th percentile", "ns"),
        Column("skew, maximum", "ns"),
        Column("waiting, all ranks", "ns"),
    )
    rows = tuple(
        (
            collective.name,
            collective.count,
            collective.skew.med_ns,
            collective.skew.p95_ns,
            collective.skew.max_ns,
            collective.wait_ns,
        )
        for collective in ranks.by_name[:top]
    )
    return Table("From the first rank's start to the last one's", columns, rows, len(ranks.by_name))


def ranks_value(ranks: Ranks) -> dict[str, Any]:
    """Return the ranks as plain values for the document (docs/report.schema.json). Times in ns."""
    return {
        "ranks": [
            {
                "label": rank.label.encode("utf-8", "backslashreplace").decode(),
                "wall_ns": rank.ledger.wall_ns,
                "accounts": rank.ledger.accounts,
                "compute_ns": rank.compute_ns,
                "comm_ns": rank.comm_ns,
                "comm_exposed_ns": rank.comm_exposed_ns,
                "wait_ns": rank.wait_ns,
                "came_last": rank.came_last,
                "holds_up_ns": rank.holds_up_ns,
            }
            for rank in ranks.ranks
        ],
        "clocks": {
            key: list(value) if isinstance(value, tuple) else value for key, value in vars(ranks.clocks).items()
        },
        "matched": ranks.matched,
        "not_overlapping": ranks.not_overlapping,
        "skew": None if ranks.skew is None else asdict(ranks.skew),
        "by_name": [asdict(collective) for collective in ranks.by_name],
        "slowest": ranks.slowest,
        "imbalance_ratio": ranks.imbalance_ratio,
        "reason": ranks.reason,
    }
