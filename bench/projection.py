"""How long does the projection of NVTX ranges onto the GPU take, and how much memory on top of the model?"""

import sys
from functools import partial
from pathlib import Path

from bench.measure import answer, in_child, in_turns, part
from bench.options import Options
from bench.table import Table, compared


def run(options: Options) -> Table:
    contenders = {"wallsplit, model loaded": partial(in_child, "bench.projection", options.trace)}
    return compared("NVTX projection", in_turns(options.repeat, contenders), "projection")


def measure(path: Path) -> None:
    from wallsplit_scripts.memory import return_large_blocks

    return_large_blocks()  # as the command line does
    from wallsplit.breakdowns import nvtx_gpu_projection
    from wallsplit.model import load
    from wallsplit.trace import Trace

    model = load(Trace.open(path))
    answer(part(lambda: nvtx_gpu_projection.compute(model, None)))


if __name__ == "__main__":
    measure(Path(sys.argv[1]))
