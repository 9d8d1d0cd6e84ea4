"""How long does the NVTX projection take, and how much memory, on one export?

Usage: python bench/projection.py TRACE.sqlite [RUNS]
"""

import statistics
import sys
import threading
import time
from pathlib import Path

from wallsplit.breakdowns import nvtx_gpu_projection
from wallsplit.model import load
from wallsplit.trace import Trace

MIB = 1 << 20


class PeakMemory:
    """Watches this process's resident memory while a block runs (Linux); `extra_mib` is the most it grew by."""

    def __enter__(self) -> "PeakMemory":
        self._before = self._peak = self._resident()
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._look)
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watch.join()
        self.extra_mib = (self._peak - self._before) / MIB

    def _look(self) -> None:
        while not self._done.wait(0.002):
            self._peak = max(self._peak, self._resident())

    @staticmethod
    def _resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def main(path: Path, runs: int) -> None:
    """Print rows, seconds and memory of each run, then the median."""
    model = load(Trace.open(path))
    print(f"{model.nvtx.height:,} ranges, {model.api_calls.height:,} calls, {model.kernels.height:,} kernels")
    seconds = []
    for _ in range(runs):
        with PeakMemory() as memory:
            start, worked = time.perf_counter(), time.process_time()
            table = nvtx_gpu_projection.compute(model, None)
            seconds.append(time.perf_counter() - start)
            worked = time.process_time() - worked  # all threads; what a busy machine does not blur
        print(f"{seconds[-1]:.3f} s, {worked:.3f} s CPU, {memory.extra_mib:.0f} MiB more, {table.height:,} rows")
    print(f"median {statistics.median(seconds):.3f} s")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
