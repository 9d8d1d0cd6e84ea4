"""What every question is asked with."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """`folder` is for files of this run only; `trace` is large, `sample` small."""

    trace: Path
    sample: Path
    folder: Path
    repeat: int
    most_rows: int
    all_of_nsys: bool
    for_docs: bool
