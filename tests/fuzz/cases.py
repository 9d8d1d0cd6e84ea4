"""What a case is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random


def _nothing() -> list[str]:
    return []


@dataclass(frozen=True)
class Case:
    """One attack: what `analyze` is called with, in the case's own folder."""

    arguments: tuple[str, ...]
    note: str
    """What was done, in words."""
    check: Callable[[], list[str]] = _nothing
    """Return what else is wrong: of what was read, beside what the command says."""
    runs: bool = True
    """Whether the command is run, or the check is all."""


Maker = Callable[[Path, Random], Case]
"""Makes a case in a folder, from a seed."""
