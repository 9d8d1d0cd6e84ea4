"""What every question is asked with."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """`folder` is for files of this run only; `trace` is large, `sample` small.

    Contenders take turns in `rounds`, programs that take minutes in the first `slow_rounds` of them.
    """

    trace: Path
    sample: Path
    folder: Path
    rounds: int
    slow_rounds: int
    most_rows: int
    for_docs: bool
