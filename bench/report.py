"""How does our whole report compare with `nsys stats` for the same tables, and with nsys-ai's findings?"""

import sys
from functools import partial
from pathlib import Path

from bench import peers
from bench.measure import command, wallsplit
from bench.options import Options
from bench.peers import Run
from bench.rounds import in_turns
from bench.table import Table, compared

WITHOUT_CORE = ("env", "WALLSPLIT_NATIVE=0")
OURS = "wallsplit"


def run(options: Options) -> Table:
    """Time ours with and without *why*, compiled and not, in turns with the peers that are here."""
    trace, folder = options.trace, options.folder
    whole = wallsplit("analyze", trace, "--json")
    without_why: list[str | Path] = [sys.executable, "-m", "bench.without_why", trace]
    ours = {
        OURS: whole,
        f"{OURS}, without the compiled core": [*WITHOUT_CORE, *whole],
        f"{OURS}, without why": without_why,
        f"{OURS}, without why, without the core": [*WITHOUT_CORE, *without_why],
        f"{OURS}, with the HTML report": wallsplit("analyze", trace, "--report-dir", folder / "reports"),
    }
    of_nsys = {**peers.stats(trace, folder, peers.SUMMARIES[0]), **peers.stats(trace, folder, *peers.SUMMARIES)}
    others = {**of_nsys, **peers.findings(trace, folder)}
    contenders: dict[str, Run] = {**others, **{name: partial(command, argv) for name, argv in ours.items()}}
    slow = dict.fromkeys(others.keys() - of_nsys.keys(), options.slow_rounds)
    readings = in_turns(options.rounds, contenders, at_most=slow, may_fail=others)
    reference = next(iter(of_nsys), OURS)
    title = f"Whole report, {trace.stat().st_size / 1e6:,.0f} MB"
    notes = peers.left_out((peers.STATS, peers.AI), others, readings)
    return compared(title, readings, "command", reference if reference in readings else OURS, notes)
