"""How long until the command line answers, until a small trace is analysed, and until its first byte is printed?

What Python, NumPy and Polars take by themselves stands beside it: no command that reads a trace can take less.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.measure import Cost, command, first_byte, wallsplit
from bench.options import Options
from bench.rounds import in_turns
from bench.table import Table, compared
from bench.tile import tile

ROUNDS = 7
"""These take less than a second, and vary more than the others."""
LARGER_ROWS = 82_000
"""Of a trace of 4 MB."""


def run(options: Options) -> Table:
    small = options.sample
    commands: dict[str, list[str | Path]] = {
        "wallsplit --help": wallsplit("--help"),
        "python: nothing": [sys.executable, "-c", "pass"],
        "python: import numpy, polars": [sys.executable, "-c", "import numpy, polars"],
        f"analyze, {small.stat().st_size / 1e3:,.0f} kB": wallsplit("analyze", small, "--json"),
        "the same, with its report": wallsplit("analyze", small, "--report-dir", options.folder / "reports"),
    }
    larger = options.folder / "first-byte.sqlite"
    tile(small, larger, LARGER_ROWS)
    runs: dict[str, Callable[[], Cost]] = {name: partial(command, argv) for name, argv in commands.items()}
    runs[f"first byte on a terminal, {larger.stat().st_size / 1e3:,.0f} kB"] = partial(
        first_byte, wallsplit("analyze", larger, "--no-report")
    )
    return compared("Start-up", in_turns(max(options.rounds, ROUNDS), runs), "command", next(iter(runs)))
