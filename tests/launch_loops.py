"""Launch sequences written as text, a character per unit: what a loop launches is one word, a run of it a product.

Letters are kernels, digits graphs, `<` a copy from the host, `>` one to the host, `=` one on the device, `|` a wait.
"""

import numpy as np

from builders import TraceBuilder
from wallsplit.why.steps.units import COPY, GRAPH, HOST_COPY, KERNEL, SYNC, Units

CALL_NS, PAUSE_NS, KERNEL_NS, LATENCY_NS = 100, 20, 300, 150
COPY_KINDS = {"<": 1, ">": 2, "=": 8}


def kind_of(unit: str) -> int:
    if unit in "<>":
        return HOST_COPY
    return {"=": COPY, "|": SYNC}.get(unit, GRAPH if unit.isdigit() else KERNEL)


def units(sequence: str, pauses: dict[str, int] | None = None) -> Units:
    """Return the units of a sequence; `pauses`: ns that the host waits before units of a character, else PAUSE_NS."""
    before = np.array([(pauses or {}).get(unit, PAUSE_NS) for unit in sequence], np.int64)
    host = np.cumsum(before + CALL_NS) - CALL_NS
    kind = np.array([kind_of(unit) for unit in sequence], np.uint8)
    token = np.array([ord(unit) for unit in sequence], np.int64)
    return Units(token, kind, host, host + CALL_NS, host + LATENCY_NS, host + LATENCY_NS + KERNEL_NS)


def launch(build: TraceBuilder, sequence: str, at: int = 0, pauses: dict[str, int] | None = None, pid: int = 1) -> int:
    """Add the rows of a sequence to a trace, from `at` on; return when the host is done. One stream: work queues up."""
    free = at
    for unit in sequence:
        at += (pauses or {}).get(unit, PAUSE_NS)
        build.correlation += 1
        number = build.correlation
        start, end = max(free, at + LATENCY_NS), max(free, at + LATENCY_NS) + KERNEL_NS
        if unit == "|":
            build.api("cudaStreamSynchronize", at, max(at + CALL_NS, free), number, pid)
            at = max(at + CALL_NS, free)
            continue
        if unit in COPY_KINDS:
            build.api("cudaMemcpyAsync", at, at + CALL_NS, number, pid)
            build.copy(start, end, number, COPY_KINDS[unit], 8_192, pid)
        elif unit.isdigit():
            build.api("cudaGraphLaunch", at, at + CALL_NS, number, pid)
            build.graph(start, end, number, int(unit), pid)
        else:
            build.api("cudaLaunchKernel", at, at + CALL_NS, number, pid)
            build.kernel(start, end, number, unit, pid)
        at, free = at + CALL_NS, end
    return at
