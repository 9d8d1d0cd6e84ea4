"""How long does the projection of NVTX ranges onto the GPU take, and how much memory?"""

import sys
from functools import partial
from pathlib import Path

from bench import peers
from bench.measure import answer, command, in_child, part
from bench.options import Options
from bench.peers import Run
from bench.rounds import in_turns
from bench.table import Table, compared


def run(options: Options) -> Table:
    """Time the trace read and projected, in turns with nsys, and the projection alone."""
    trace = options.trace
    argv: list[str | Path] = [sys.executable, "-m", "bench.projection", trace]
    others = peers.stats(trace, options.folder, peers.PROJECTION)
    contenders: dict[str, Run] = {
        "wallsplit: read and projected": partial(command, argv),
        "of it the projection": partial(in_child, "bench.projection", trace),
        **others,
    }
    slow = dict.fromkeys(others, options.slow_rounds)
    readings = in_turns(options.rounds, contenders, at_most=slow, may_fail=others)
    notes = peers.left_out((peers.STATS,), others, readings)
    return compared("NVTX projection", readings, "projection", next(iter(contenders)), notes)


def measure(path: Path) -> None:
    """Print what the projection of a trace costs, on top of reading it."""
    from wallsplit_scripts.memory import return_large_blocks

    return_large_blocks()  # as the command line does
    from wallsplit.breakdowns import nvtx_gpu_projection
    from wallsplit.model import load
    from wallsplit.trace import Trace

    model = load(Trace.open(path))
    answer(part(lambda: nvtx_gpu_projection.compute(model, None)))


if __name__ == "__main__":
    measure(Path(sys.argv[1]))
