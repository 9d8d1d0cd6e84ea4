"""A comparison becomes one report: verdict, sentence, cards, waterfall, what changed below it, how sure that is."""

from collections.abc import Mapping, Sequence

from wallsplit.accounts import ACCOUNTS
from wallsplit.breakdowns import kernel_summary
from wallsplit.comparison.decomposition import Row
from wallsplit.comparison.pairs import Comparison, Pair
from wallsplit.comparison.repeats import KINDS, Kind
from wallsplit.comparison.sides import Side
from wallsplit.comparison.waterfall import Line
from wallsplit.figures.waterfall import waterfall
from wallsplit.kernel_names.labels import labels
from wallsplit.note import Note
from wallsplit.report.comparison_cards import bounded, comparison_cards
from wallsplit.report.document import (
    Block,
    Cell,
    Column,
    Label,
    Paragraph,
    Remarks,
    Report,
    Section,
    Table,
)
from wallsplit.text import file_name, for_people
from wallsplit.words.changes import counts_are_of, graphed, how_sure, label, sentence, short_sentence, unit, warnings
from wallsplit.words.comparison_verdict import comparison_verdict

STEM = "comparison"
DRAWN = 8
"""Pairs that get a waterfall of their own: more say less."""
SHORT = 5
"""Accounts that a terminal shows of a pair; the rest is one line."""
SIDES_SHOWN = 4
"""Pairs that a terminal has room for."""

_NAME = Column("name")
_CHANGES = (
    _NAME,
    Column("change"),
    Column("count before", "mean_count"),
    Column("count after", "mean_count"),
    Column("mean before", "ns"),
    Column("mean after", "ns"),
    Column("total", "change_ns"),
    Column("by count", "change_ns"),
    Column("by mean", "change_ns"),
)


def comparison_report(comparison: Comparison, top: int) -> Report:
    """Return what there is to say about a comparison; long tables cut to their first `top` rows."""
    pairs = comparison.pairs
    phrase = sentence if len(pairs) == 1 else short_sentence
    traces = sum(len(side.repeats) for side in comparison.sides)
    return Report(
        title=f"Comparison of {len(comparison.sides)} sides",
        headline=phrase(comparison, pairs[0]),
        figure=None,
        sections=(
            _waterfall(comparison),
            Section("accounts", "All accounts", (accounts(comparison),), folded=True),
            _traces(comparison),
            *(_changes(comparison, pair, number, top) for number, pair in enumerate(pairs, 1)),
        ),
        source=f"{traces} traces of NVIDIA Nsight Systems",
        verdict=comparison_verdict(comparison),
        cards=comparison_cards(comparison),
    )


def _waterfall(comparison: Comparison) -> Section:
    pairs = comparison.pairs
    blocks: list[Block] = [
        Paragraph(short_sentence(comparison, pair), essential=number < SIDES_SHOWN)
        for number, pair in enumerate(pairs[1:], 2)
    ]
    blocks += [waterfall(pair, f"waterfall{n or ''}") for n, pair in enumerate(pairs[:DRAWN])]
    blocks += [_short(comparison)] if len(pairs) == 1 else [_side_by_side(comparison)]
    blocks.append(Paragraph(how_sure(comparison), essential=True))
    notes = [Note("comparison", "warning", text) for text in warnings(comparison)]
    if len(pairs) == 1 and (text := graphed(pairs[0])):
        notes.append(Note("comparison", "info", text))
    if notes:
        blocks.append(Remarks(tuple(notes)))
    return Section("waterfall", f"Where the change is, per {unit(comparison)}", tuple(blocks))


def _short(comparison: Comparison) -> Table:
    """Return the largest changes of the only pair, with what the others make together."""
    (pair,) = comparison.pairs
    lines = pair.waterfall.lines
    shown, rest = (lines, ()) if len(lines) <= SHORT + 1 else (lines[:SHORT], lines[SHORT:])
    rows: list[tuple[Cell, ...]] = [(line.name, *_times(line, pair), line.delta_ns) for line in shown]
    if rest:
        before, after = (sum(side.accounts[n] or 0 for n in _names(rest)) for side in (pair.before, pair.after))
        rows.append((f"{len(rest)} others", float(before), float(after), sum(line.delta_ns for line in rest)))
    rows.append(("wall", float(pair.before.wall), float(pair.after.wall), pair.waterfall.wall_delta_ns))
    columns = (
        Column("account", brief=True),
        Column(label(pair.before), "ns", "not measured", brief=True),
        Column(label(pair.after), "ns", "not measured", brief=True),
        Column("change", "change_ns", bar=True, brief=True),
    )
    return _with_wall("Largest changes", columns, rows, essential=True)


def _names(lines: Sequence[Line]) -> list[str]:
    return [line.account for line in lines]


def _times(line: Line, pair: Pair) -> tuple[Cell, Cell]:
    return bounded(line.before_ns, line.account, pair.before), bounded(line.after_ns, line.account, pair.after)


def _side_by_side(comparison: Comparison) -> Table:
    """Return the accounts that changed most in any pair, with each pair's change: what a terminal has room for."""
    pairs = comparison.pairs[:SIDES_SHOWN]
    changes = {account: [_delta(pair, account) for pair in pairs] for account in ACCOUNTS}
    order = sorted((a for a in ACCOUNTS if any(changes[a])), key=lambda a: -max(map(abs, changes[a])))
    most = max(3, SHORT + 2 - 2 * len(pairs))  # each pair has a sentence, too
    shown, rest = (order, []) if len(order) <= most + 1 else (order[:most], order[most:])
    baseline = comparison.sides[0]
    rows: list[tuple[Cell, ...]] = [
        (account, bounded(_ns(baseline, account), account, baseline), *changes[account]) for account in shown
    ]
    if rest:
        together = [sum(changes[account][i] for account in rest) for i in range(len(pairs))]
        rows.append((f"{len(rest)} others", sum(_ns(baseline, account) or 0.0 for account in rest), *together))
    rows.append(("wall", float(baseline.wall), *(pair.waterfall.wall_delta_ns for pair in pairs)))
    columns = (
        Column("account", brief=True),
        Column(for_people(label(baseline), 12), "ns", "not measured", brief=True),
        *(Column(f"Δ {for_people(label(pair.after), 12)}", "change_ns", brief=True) for pair in pairs),
    )
    more = len(comparison.pairs) - len(pairs)
    caption = "Largest changes" + (f": the first {len(pairs)} of {len(pairs) + more} pairs" if more else "")
    return _with_wall(caption, columns, rows, essential=True)


def _delta(pair: Pair, account: str) -> float:
    per_ns = 1 if pair.waterfall.unit == "ns" else 1000
    return pair.waterfall.account_deltas[account] / per_ns


def _ns(side: Side, account: str) -> float | None:
    exact = side.accounts[account]
    return None if exact is None else float(exact)


def accounts(comparison: Comparison, most: int | None = None) -> Table:
    """Return all accounts of all sides, and what changed in each pair.

    Given `most`, of so many pairs, and without the accounts that are 0 or not measured on all sides.
    """
    pairs = comparison.pairs[:most]
    sides = comparison.sides[: most and most + 1]
    rows = [
        (
            account,
            *(bounded(_ns(side, account), account, side) for side in sides),
            *(_delta(pair, account) for pair in pairs),
        )
        for account in ACCOUNTS
        if most is None or any(side.accounts[account] for side in sides)
    ]
    walls = [float(side.wall) for side in sides]
    rows.append(("wall", *walls, *(pair.waterfall.wall_delta_ns for pair in pairs)))
    columns = (
        Column("account"),
        *(Column(label(side), "ns", "not measured") for side in sides),
        *(Column(f"Δ {label(pair.after)}", "change_ns") for pair in pairs),
    )
    return _with_wall("All accounts: their changes sum to that of the wall time exactly", columns, rows)


def _with_wall(
    caption: str, columns: tuple[Column, ...], rows: list[tuple[Cell, ...]], *, essential: bool = False
) -> Table:
    """Return a table whose last row is the sum of the others."""
    sums = frozenset({len(rows) - 1})
    return Table(caption, columns, tuple(rows), len(rows) - 1, group_rows=sums, essential=essential)


def _traces(comparison: Comparison) -> Section:
    columns = (
        Column("side"),
        Column("trace"),
        Column(f"wall per {unit(comparison)}", "ns"),
        Column("units", "count"),
        Column("window", "ns"),
    )
    rows = tuple(
        (
            label(side),
            file_name(repeat.path),
            float(repeat.wall),
            int(repeat.units.count),
            repeat.units.window.wall_ns,
        )
        for side in comparison.sides
        for repeat in side.repeats
    )
    return Section("sides", "What was compared", (Table("Sides and their traces", columns, rows, len(rows)),))


def _changes(comparison: Comparison, pair: Pair, number: int, top: int) -> Section:
    per, _ = counts_are_of(comparison)
    several = len(comparison.pairs) > 1
    pair_name = f"{label(pair.before)} → {label(pair.after)}"
    blocks: list[Block] = [
        Paragraph(
            f"Counts and totals are per {per} and per ledger. Change of a total = change of the count × mean of the "
            "means (by count) + change of the mean × mean of the counts (by mean). Rows overlap in time: these tables "
            "do not add up to the wall time; only the ledger does."
        )
    ]
    blocks += [changes_table(comparison, kind, rows, top) for kind in KINDS if (rows := changed(pair, kind.key))]
    if len(blocks) == 1:
        blocks.append(Paragraph("No kernel, copy, call or range changed."))
    title = f"What changed: {pair_name}" if several else "What changed"
    return Section(f"changes{number if several else ''}", title, tuple(blocks), folded=True)


def changed(pair: Pair, kind: str) -> tuple[Row, ...]:
    """Return the rows of a kind that changed."""
    return tuple(row for row in pair.rows.get(kind, ()) if row.change != "same" or row.delta_ns)


def changes_table(comparison: Comparison, kind: Kind, rows: Sequence[Row], top: int) -> Table:
    """Return the first `top` rows of what changed; no two of them bear one name."""
    _, factor = counts_are_of(comparison)
    names = list(dict.fromkeys(name for row in rows for name in (row.name, row.maybe_replaces) if name))
    shown = dict(zip(names, labels(names) if kind.breakdown is kernel_summary.TABLE else _whole(names), strict=True))
    cells = tuple(_cells(row, factor, shown) for row in rows[:top])
    return Table(kind.title, _CHANGES, cells, len(rows))


def _whole(names: Sequence[str]) -> list[str]:
    return [for_people(name, 100) for name in names]


def _cells(row: Row, factor: int, shown: Mapping[str, str]) -> tuple[Cell, ...]:
    hint = f" (maybe for {shown[row.maybe_replaces]})" if row.maybe_replaces else ""
    return (
        Label(shown[row.name], row.name),
        row.change + hint,
        *(count * factor for count in row.count),
        *row.mean_ns,
        row.delta_ns,
        row.by_count_ns,
        row.by_mean_ns,
    )
