"""Write traces/keras-gpu.reconstructed.sqlite: one published Keras epoch on a GPU, rebuilt from its published figures.

Nobody's recording. The published study gives totals: the wall time of the epoch, the number of graph launches, the
total time of CUDA API calls. A timeline needs more than that, so every further choice stands in ASSUMPTIONS, goes
into the file, and from there into every report.

    PYTHONPATH=scripts python -m samples.reconstruct_keras_gpu [FILE]
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from samples.nsys_tables import PUSH_POP, Row, Rows, global_id, write

TARGET = Path(__file__).resolve().parents[2] / "traces" / "keras-gpu.reconstructed.sqlite"

US, MS = 1_000, 1_000_000
# Published.
EPOCH_NS = 6_500 * MS
API_NS = 2_700 * MS
TRAINING_STEPS, VALIDATION_STEPS = 1_500, 375
STEPS = TRAINING_STEPS + VALIDATION_STEPS
FLOOR_NS = 2_300 * MS  # what an epoch costs at any batch size
BATCH, INPUTS, HIDDEN, CLASSES = 32, 784, 128, 10
SMS, LANES_PER_SM, CLOCK_HZ = 48, 64, 1_800_000_000
PEAK_FLOP_PER_S = SMS * LANES_PER_SM * 2 * CLOCK_HZ  # a fused multiply-add is two operations
PCIE_BYTES_PER_S = 32_000_000_000
# Chosen here; the reasons stand in ASSUMPTIONS.
STEP_NS = (EPOCH_NS - FLOOR_NS) // STEPS
STEP_API_NS = 930 * US
COPY_CALL_NS, SYNC_CALL_NS = 45 * US, 5 * US
LAUNCH_CALL_NS = STEP_API_NS - 2 * COPY_CALL_NS - SYNC_CALL_NS
MIN_OPERATION_NS, NODE_GAP_NS, START_DELAY_NS = 2 * US, 1 * US, 5 * US
METRICS_BYTES = 8
SETUP_CALLS = (
    ("cuDevicePrimaryCtxRetain", 250 * MS),
    ("cuMemAlloc_v2", 6_250 * US),
    ("cuMemHostAlloc", 50 * MS),
    *(("cuModuleLoadFatBinary", 60 * MS),) * 10,
    *(("cuGraphInstantiateWithFlags", 25 * MS),) * 2,
)
SETUP_API_NS = sum(duration for _, duration in SETUP_CALLS)

PID = 1_000
GLOBAL_PID, GLOBAL_TID = global_id(PID), global_id(PID, PID)
STREAM = 13
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2  # ENUM_CUDA_MEMCPY_OPER
START_NS = 100 * MS  # the recording runs a moment before the epoch and after it


@dataclass(frozen=True)
class Node:
    """A kernel of a graph: its name, the FLOPs of its matrix product, its launch shape."""

    name: str
    flop: int
    blocks: int
    threads: int = 256

    @property
    def duration_ns(self) -> int:
        """How long it runs: the minimum and its arithmetic at the card's peak."""
        return MIN_OPERATION_NS + round(self.flop * 1e9 / PEAK_FLOP_PER_S)


LAYER_1, LAYER_2 = 2 * BATCH * INPUTS * HIDDEN, 2 * BATCH * HIDDEN * CLASSES
PARAMETERS = INPUTS * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES
FORWARD = (Node("gemm_bias_relu", LAYER_1, 4), Node("gemm_bias", LAYER_2, 1), Node("softmax_cross_entropy", 0, 1))
BACKWARD = (
    Node("gemm_weights_2", LAYER_2, 4),
    Node("gemm_hidden_relu", LAYER_2, 4),
    Node("gemm_weights_1", LAYER_1, 100),
    Node("sgd_update", 0, -(-PARAMETERS // 1024), 1024),
)
TRAINING, VALIDATION = FORWARD + BACKWARD, FORWARD

NOTE = (
    "Reconstructed from published figures, not recorded: only the epoch's wall time, the number of graph launches and "
    "the total CUDA API time are measurements of others; all else in this trace is assumed and listed."
)
ASSUMPTIONS = """
Published: one epoch of Keras model.fit (MLP 784-128-10, MNIST, batch 32, Quadro RTX 5000, Core i9-10885H) takes 6.5 s
of wall time; the default window is exactly that.

Published: 1,500 training and 375 validation steps, one cuGraphLaunch each, 1,875 in all.

Published: CUDA API calls take 2.7 s in total, and none of them is arithmetic; how the 2.7 s divide over the calls, and
how much of it the GPU was idle, is not published.

Assumed: the first CUDA call opens the epoch and the last one ends it; one process, one thread, one stream.

Assumed: 2.3 s of the epoch pass once, before the first step (set-up, tracing, compilation), because published epochs do
not get shorter than about 2.3 s however large the batch; the other 4.2 s divide equally over the 1,875 steps, 2.240 ms
each, training and validation alike.

Assumed: API time is spread as wall time is, 41.5 %: 956.25 ms in the 2.3 s of set-up and 930 µs in each step.

Assumed: the 956.25 ms are one context (250 ms), 10 modules loaded (60 ms each), one device pool (6.25 ms), one pinned
pool (50 ms) and 2 graphs instantiated (25 ms each), each followed by 89.58 ms of host code.

Assumed: a step is 1,310 µs of host code, then four calls in a row: copy the batch in (45 µs), launch the graph (835
µs), copy the metrics out (45 µs), synchronize (5 µs).

The 45 µs of a copy call is 15 times the 3 µs its bytes take; published: 10 to 20 times.

The 835 µs of cuGraphLaunch is what the other calls leave of 930 µs, given to the one call the study names. It is far
above the published 5 to 15 µs of a kernel launch: the published figures do not explain the 2.7 s, and this trace cannot
either.

Modelled: 32 × 784 × 4 = 100,352 bytes per batch at the 32 GB/s of PCIe are 3.136 µs; labels are left out; the metrics
are 8 bytes, the copy takes the minimum of 2 µs.

Assumed: a training graph holds 7 kernels (3 forward, 3 backward, 1 update), a validation graph 3, element-wise work
fused into the matrix products; the published study lists no kernel.

Modelled: a kernel takes 2 µs, the assumed minimum, plus the FLOPs of its matrix product at 11.06 TFLOP/s (48 SMs × 64
lanes × 2 × 1.8 GHz, a multiply-add counted as two): 0.58 µs for the 6.42 MFLOP of layer 1.

Assumed: the first kernel starts 5 µs after its launch returns, further ones follow at 1 µs; a copy starts 2 µs after
its call returns.

Assumed: the forward product of layer 1 has 4 blocks of 32 × 32 results, so it reaches at most 4 of 48 SMs (published:
about 3); grids of the other kernels likewise follow from their result's size, blocks have 256 threads (the update's
1,024) with 32 registers each.

Data sheet: 48 SMs, 16 GiB at 448 GB/s, compute capability 7.5; 1.8 GHz as published.

Every step is like every other: the published figures have no variation to repeat.
"""  # one a paragraph


@dataclass
class Timeline:
    """The rows so far, and the time at which the next call may begin."""

    now: int = START_NS
    calls: list[Row] = field(default_factory=list)
    kernels: list[Row] = field(default_factory=list)
    copies: list[Row] = field(default_factory=list)
    ranges: list[Row] = field(default_factory=list)
    strings: dict[str, int] = field(default_factory=dict)

    def string(self, text: str) -> int:
        """Return the id of a text."""
        return self.strings.setdefault(text, len(self.strings) + 1)

    def call(self, name: str, duration_ns: int) -> int:
        """Add a driver call and return its correlation id."""
        start, self.now = self.now, self.now + duration_ns
        correlation = len(self.calls) + 1
        driver = 1
        self.calls.append(
            Row(start=start, end=self.now, eventClass=driver, globalTid=GLOBAL_TID)
            | Row(correlationId=correlation, nameId=self.string(name), returnValue=0)
        )
        return correlation

    def copy(self, name: str, kind: int, size: int, duration_ns: int) -> int:
        """Add a copy call and the copy it starts, and return when the copy ends."""
        correlation = self.call(name, COPY_CALL_NS)
        start = self.now + MIN_OPERATION_NS
        pinned, device = 1, 2
        source, target = (pinned, device) if kind == HOST_TO_DEVICE else (device, pinned)
        self.copies.append(
            _on_gpu(start, start + duration_ns, correlation)
            | Row(bytes=size, copyKind=kind, srcKind=source, dstKind=target)
        )
        return start + duration_ns

    def launch(self, nodes: tuple[Node, ...], first_node: int) -> None:
        """Add a graph launch and the kernels of the graph."""
        correlation = self.call("cuGraphLaunch", LAUNCH_CALL_NS)
        start = self.now + START_DELAY_NS
        for number, node in enumerate(nodes, first_node):
            end = start + node.duration_ns
            name = self.string(node.name)
            self.kernels.append(
                _on_gpu(start, end, correlation)
                | Row(demangledName=name, shortName=name, registersPerThread=32)
                | Row(gridX=node.blocks, gridY=1, gridZ=1, blockX=node.threads, blockY=1, blockZ=1)
                | Row(staticSharedMemory=0, dynamicSharedMemory=0, graphNodeId=number)
            )
            start = end + NODE_GAP_NS

    def range(self, name: str, start: int) -> None:
        """Add an NVTX range from `start` to now."""
        self.ranges.append(
            Row(start=start, end=self.now, eventType=PUSH_POP, text=None, textId=self.string(name))
            | Row(globalTid=GLOBAL_TID, endGlobalTid=None, domainId=0)
        )


def _on_gpu(start: int, end: int, correlation: int) -> Row:
    return Row(
        start=start,
        end=end,
        deviceId=0,
        contextId=1,
        streamId=STREAM,
        correlationId=correlation,
        globalPid=GLOBAL_PID,
    )


def timeline() -> Timeline:
    """Return the rows of the epoch."""
    if SETUP_API_NS + STEPS * STEP_API_NS != API_NS:
        raise ValueError("the calls do not add up to the published API time")
    line = Timeline()
    set_up(line)
    for number in range(STEPS):
        step(line, training=number < TRAINING_STEPS)
    line.range("epoch", START_NS)
    line.ranges.sort(key=lambda row: (int(row["start"] or 0), -int(row["end"] or 0)))  # outer ranges first
    return line


def set_up(line: Timeline) -> None:
    """Add what happens once: the calls of SETUP_CALLS in order, with equal gaps after them."""
    gap = (FLOOR_NS - SETUP_API_NS) // len(SETUP_CALLS)
    for name, duration in SETUP_CALLS:
        line.call(name, duration)
        line.now += gap
    line.now = START_NS + FLOOR_NS
    line.range("compile", START_NS)


def step(line: Timeline, *, training: bool) -> None:
    """Add one step: host code, then copy in, launch, copy out, synchronize."""
    start = line.now
    line.now += STEP_NS - STEP_API_NS
    size = BATCH * INPUTS * 4
    line.copy("cuMemcpyHtoDAsync_v2", HOST_TO_DEVICE, size, size * 10**9 // PCIE_BYTES_PER_S)
    line.launch(TRAINING if training else VALIDATION, 1 if training else 1 + len(TRAINING))
    copied = line.copy("cuMemcpyDtoHAsync_v2", DEVICE_TO_HOST, METRICS_BYTES, MIN_OPERATION_NS)
    line.call("cuStreamSynchronize", SYNC_CALL_NS)
    if copied > line.now:
        raise ValueError(f"the wait of {SYNC_CALL_NS} ns ends before the copy it waits for; make it longer")
    line.range("step" if training else "validation_step", start)


def rows(line: Timeline) -> Rows:
    """Return the tables of the file."""
    duration = line.now + START_NS
    return {
        "StringIds": [{"id": number, "value": text} for text, number in line.strings.items()],
        "ANALYSIS_DETAILS": [{"globalVid": global_id(0), "duration": duration, "startTime": 0, "stopTime": duration}],
        "PROCESSES": [{"globalPid": GLOBAL_PID, "pid": PID, "name": "python"}],
        "TARGET_INFO_GPU": [_gpu()],
        "TARGET_INFO_CUDA_DEVICE": [{"gpuId": 0, "cudaId": 0, "pid": PID}],
        "CUPTI_ACTIVITY_KIND_RUNTIME": line.calls,
        "CUPTI_ACTIVITY_KIND_KERNEL": line.kernels,
        "CUPTI_ACTIVITY_KIND_MEMCPY": line.copies,
        "NVTX_EVENTS": line.ranges,
        "ENUM_CUDA_MEMCPY_OPER": [
            {"id": HOST_TO_DEVICE, "name": "CUDA_MEMCPY_KIND_HTOD", "label": "Host-to-Device"},
            {"id": DEVICE_TO_HOST, "name": "CUDA_MEMCPY_KIND_DTOH", "label": "Device-to-Host"},
        ],
        "META_DATA_EXPORT": [{"name": name, "value": value} for name, value in _metadata()],
    }


def _metadata() -> Iterator[tuple[str, str]]:
    yield "EXPORT_SCHEMA_VERSION", "3.24.0"
    yield "WALLSPLIT_NOTE", NOTE
    for number, assumption in enumerate(ASSUMPTIONS.strip().split("\n\n"), 1):
        yield f"WALLSPLIT_ASSUMPTION_{number:02}", " ".join(assumption.split())


def _gpu() -> Row:
    return Row(
        vmId=global_id(0),
        id=0,
        name="Quadro RTX 5000",
        totalMemory=16 << 30,
        memoryBandwidth=448_000_000_000,
        clockRate=CLOCK_HZ,
        smCount=SMS,
        chipName="TU104",
        maxShmemPerSm=64 << 10,
        maxRegistersPerSm=65_536,
        threadsPerWarp=32,
        maxWarpsPerSm=32,
        maxBlocksPerSm=16,
        computeMajor=7,
        computeMinor=5,
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET, rows(timeline()))
