"""How often does `compare` find a change where there is none, and how often one of a tenth?

One program is recorded again and again, in turns with one whose steps do a tenth more. Then sides of a few runs each
are drawn from these recordings at random, and compared.
"""

import random
import subprocess
import sys
from pathlib import Path

from bench.measure import ROOT, wallsplit
from bench.options import Options
from bench.peers import nsys
from bench.table import Table

RUNS = 14
"""Recordings of either program."""
PRODUCTS = (40, 44)
"""What a step multiplies: the program, and the one that does a tenth more."""
RUNS_A_SIDE = (3, 4, 5, 6)
DRAWS = 1_000


def run(options: Options) -> Table:
    from wallsplit.comparison.pairs import compare
    from wallsplit.comparison.repeats import Measured
    from wallsplit.pipeline import measure

    if nsys() is None:
        return Table("Verdicts: no nsys here, so nothing was recorded", ("",), ())
    same: list[Measured] = []
    more: list[Measured] = []
    for number in range(RUNS):
        for side, products in zip((same, more), PRODUCTS, strict=True):
            side.append(measure(_record(options.folder, products, number), "step"))
    rng = random.Random(1)

    def share(before: list[Measured], after: list[Measured], runs: int, verdicts: set[str]) -> str:
        found = 0
        for _ in range(DRAWS):
            one = rng.sample(before, runs)
            other = rng.sample([run for run in after if run not in one], runs)
            (pair,) = compare({"before": one, "after": other}, per="step").pairs
            found += pair.confidence.verdict in verdicts
        return f"{found / DRAWS:.1%}"

    rows = [
        (f"{runs}", share(same, same, runs, {"slower", "faster"}), share(same, more, runs, {"slower"}))
        for runs in RUNS_A_SIDE
    ]
    title = (
        f"Verdicts of {DRAWS:,} draws from {RUNS} recordings each of a program and of one whose steps do a tenth more"
    )
    return Table(title, ("runs a side", "one program: slower or faster", "a tenth more: slower"), tuple(rows))


def _record(folder: Path, products: int, number: int) -> Path:
    """Return the trace of one run, recorded without samples and calls into the operating system."""
    name = f"steps-{products}-{number}"
    recorder = wallsplit("profile", "--name", name, "--output-dir", folder, "--no-cpu-samples", "--no-os-calls")
    program = (sys.executable, ROOT / "bench" / "planted_steps.py", str(products))
    subprocess.run([*recorder, "--", *program], cwd=ROOT, check=True, capture_output=True)
    return folder / f"{name}.sqlite"
