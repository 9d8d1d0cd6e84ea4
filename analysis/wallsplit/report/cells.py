"""The edge: cells become text."""

from decimal import Decimal

from wallsplit import units
from wallsplit.accounts import PARTS
from wallsplit.figures.bars import Bar
from wallsplit.report.document import AtLeast, AtMost, Cell, Kind, Label, Link, Split
from wallsplit.text import LIMIT, for_people

GLYPHS = {part.key: part.glyph for part in PARTS}
_GLYPHS = 20


def cell_text(cell: Cell, kind: Kind, null: str, limit: int = LIMIT) -> str:
    """Return a cell as one line for people: visible, at most `limit` characters of text, "≥" or "≤" before a bound."""
    match cell:
        case None:
            return null
        case Split():
            return _in_glyphs(cell.bar)
        case Link() | Label():
            return for_people(cell.text, limit)
        case str():
            return for_people(cell, limit)
        case AtLeast():
            return f"≥ {_number(cell.value, kind)}"
        case AtMost():
            return f"≤ {_number(cell.value, kind)}"
    return _number(cell, kind)


def _in_glyphs(bar: Bar) -> str:
    """Return a bar as a text of fixed length."""
    cells = units.apportion([segment.value_ns for segment in bar.segments], _GLYPHS)
    return "".join(GLYPHS.get(segment.key, "#") * n for segment, n in zip(bar.segments, cells, strict=True))


def _number(value: float | Decimal, kind: Kind) -> str:
    match kind:
        case "ns":
            return units.ns(float(value)) if isinstance(value, Decimal) else units.ns(value)
        case "change_ns":
            return units.signed_ns(float(value))
        case "bytes":
            return units.size(float(value))
        case "ratio":
            return units.ratio(float(value))
        case "fine_ratio":
            return units.fine_ratio(float(value))
        case "flops":
            return units.flops(float(value))
        case "percent":
            return f"{value} %"
        case "count":
            return units.count(int(value))
        case "mean_count":
            return units.mean_count(float(value))
        case "number":
            return f"{value:,.1f}"
        case "text":
            return str(value)


def sort_key(cell: Cell) -> float | None:
    """Return what a column is sorted by: the number itself, or None for text."""
    value = cell.value if isinstance(cell, AtLeast | AtMost) else cell
    return float(value) if isinstance(value, int | float | Decimal) else None
