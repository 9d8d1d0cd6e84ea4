"""A figure that a page draws itself: its SVG, and what its colours mean."""

from collections.abc import Callable

from wallsplit.frozen import dataclass


@dataclass(frozen=True)
class Kind:
    """A colour and what it means."""

    key: str
    """A key of `drawing.COLOURS`, and of the page's classes."""
    title: str


@dataclass(frozen=True)
class Inline:
    """Inline SVG, drawn when it is asked for."""

    svg: Callable[[], str]
    legend: tuple[Kind, ...]
