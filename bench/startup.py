"""How long until the command line answers, and until a small trace is analysed?"""

from functools import partial
from pathlib import Path

from bench.measure import Cost, command, in_turns, wallsplit
from bench.options import Options
from bench.table import Table, compared


def run(options: Options) -> Table:
    small = options.sample
    commands: dict[str, list[str | Path]] = {
        "wallsplit --help": wallsplit("--help"),
        f"analyze, {small.stat().st_size / 1e3:,.0f} kB": wallsplit("analyze", small, "--json"),
        "the same, with its report": wallsplit("analyze", small, "--report-dir", options.folder / "reports"),
    }
    costs: dict[str, Cost] = in_turns(options.repeat, {name: partial(command, argv) for name, argv in commands.items()})
    return compared("Start-up", costs, "command")
