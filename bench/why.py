"""How do causes, steps and waits (*why*) grow with the trace, and what do the steps of 10⁶ kernels take?"""

import sys
from functools import partial
from pathlib import Path

from bench.measure import answer, in_child, part, run_python
from bench.options import Options
from bench.rounds import in_turns
from bench.table import Table, medians

DECADES = (10_000, 100_000, 1_000_000, 10_000_000)
KERNELS = 1_000_000
SAMPLE_ROWS_PER_KERNEL = 2.13
WHY, STEPS = "why", "steps"


def run(options: Options) -> Table:
    sizes = {f"{rows:,} rows, why": (WHY, rows) for rows in DECADES if rows <= options.most_rows}
    if options.most_rows >= DECADES[-1]:
        sizes[f"steps of {KERNELS:,} kernels"] = (STEPS, round(KERNELS * SAMPLE_ROWS_PER_KERNEL))
    lines = []
    for name, (question, rows) in sizes.items():
        trace = options.folder / "why.sqlite"
        run_python("-m", "bench.tile", options.sample, trace, str(rows))
        (readings,) = in_turns(options.rounds, {name: partial(in_child, "bench.why", question, trace)}).values()
        trace.unlink()
        lines.append((name, *medians(readings)))
    return Table("Why: on top of model, ledger and tables", ("what", "wall s", "CPU s", "peak MB"), tuple(lines))


def measure(question: str, path: Path) -> None:
    from wallsplit_scripts.memory import return_large_blocks

    return_large_blocks()  # as the command line does
    from wallsplit.diagnosis.explanation import explain
    from wallsplit.ledger.booking import book
    from wallsplit.ledger.windows import default_window
    from wallsplit.pipeline import examine
    from wallsplit.why.steps import steps

    examined = examine(path)
    window = default_window(examined.model)
    assert window is not None  # the sample has CUDA calls
    if question == STEPS:
        busiest = max(examined.activities, key=lambda activity: activity.rows.kernels.height if activity.rows else 0)
        answer(part(lambda: steps(examined.model, busiest, window, hide_ranges=True)))
        return
    ledgers = [ledger for activity in examined.activities for ledger in book(activity, [window])]
    answer(part(lambda: explain(examined.model, examined.activities, ledgers, window)))


if __name__ == "__main__":
    measure(sys.argv[1], Path(sys.argv[2]))
