"""Stacked bars as data; the one drawing that every renderer can make itself."""

from decimal import Decimal
from typing import Literal

from wallsplit.frozen import dataclass
from wallsplit.units import largest_remainders


@dataclass(frozen=True)
class Segment:
    """A stretch of a bar."""

    key: str
    """Decides the colour: a key of `drawing.COLOURS`."""
    title: str
    value_ns: int
    bound: Literal["", "≥ ", "≤ "] = ""
    """What is printed before its number."""


@dataclass(frozen=True)
class Bar:
    """One labelled bar, its segments from the left."""

    label: str
    segments: tuple[Segment, ...]

    @property
    def total_ns(self) -> int:
        """Length of the whole bar in ns."""
        return sum(segment.value_ns for segment in self.segments)

    @property
    def percents(self) -> list[Decimal]:
        """Per cent of the bar that each segment is; they add up to 100.0."""
        return largest_remainders([segment.value_ns for segment in self.segments], self.total_ns)

    @property
    def in_words(self) -> str:
        """The bar as a sentence, for those who do not see it."""
        parts = [
            f"{segment.title} {segment.bound}{percent} %"
            for segment, percent in zip(self.segments, self.percents, strict=True)
            if segment.value_ns
        ]
        return f"{self.label}: {', '.join(parts)}"


@dataclass(frozen=True)
class Bars:
    """Bars on one scale: `scale_ns` is the full width; None lets every bar fill it (per cent)."""

    bars: tuple[Bar, ...]
    scale_ns: int | None = None

    @property
    def legend(self) -> tuple[Segment, ...]:
        """One segment of each kind that occurs, in order."""
        used = {s.key for bar in self.bars for s in bar.segments if s.value_ns}
        return tuple({s.key: s for bar in self.bars for s in bar.segments if s.key in used}.values())

    def widths(self, bar: Bar) -> list[float]:
        """Return the width of each segment as a ratio 0–1 of the full width."""
        whole = self.scale_ns or bar.total_ns
        return [segment.value_ns / whole if whole else 0.0 for segment in bar.segments]
