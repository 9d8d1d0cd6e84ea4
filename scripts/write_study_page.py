"""Write anew what docs/the-study.md says of our measurements, from reports/cpu-study; a test compares the two."""

import sys
from pathlib import Path

import polars as pl

from wallsplit_study.breakdown import frame
from wallsplit_study.cells import from_line, latest
from wallsplit_study.page.blocks import rewritten
from wallsplit_study.page.text import Study

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "the-study.md"
MEASURED = ROOT / "reports" / "cpu-study"


def page() -> str:
    """Return the page as it would be made now."""
    outcomes = latest(from_line(line) for line in (MEASURED / "cells.jsonl").read_bytes().splitlines())
    epochs, file = frame(()), MEASURED / "breakdown.csv"
    if file.exists():
        epochs = pl.read_csv(file, schema=epochs.schema)
    return rewritten(PAGE.read_text(encoding="utf-8"), Study(outcomes, epochs))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{PAGE}\n")
