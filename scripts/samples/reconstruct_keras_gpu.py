"""Write traces/keras-gpu.reconstructed.sqlite: one published Keras epoch on a GPU, rebuilt from its published figures.

Beside it goes the manifest of the published run. It is nobody's recording. The published study gives totals: the wall
time of the epoch, the number of graph launches, the total time of CUDA API calls. A timeline needs more than that, so
every further choice stands in keras_gpu_assumptions.py, goes into the file, and from there into every report.

    python -m samples.reconstruct_keras_gpu [FILE]
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from samples.keras_gpu_assumptions import ASSUMPTIONS, NOTE
from samples.keras_gpu_manifest import manifest
from samples.nsys_tables import PUSH_POP, Row, Rows, global_id, write
from wallsplit.run.manifest import beside, to_json

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
TILE = 32  # rows and columns of a product's result that a block computes
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


def product(name: str, rows: int, summed: int, columns: int) -> Node:
    """Return the kernel of (rows, summed) @ (summed, columns): a block per tile of its result."""
    return Node(name, 2 * rows * summed * columns, ceil(rows / TILE) * ceil(columns / TILE))


PARAMETERS = INPUTS * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES
FORWARD = (
    product("gemm_bias_relu", BATCH, INPUTS, HIDDEN),
    product("gemm_bias", BATCH, HIDDEN, CLASSES),
    Node("softmax_cross_entropy", 0, 1),
)
BACKWARD = (
    product("gemm_weights_2", HIDDEN, BATCH, CLASSES),
    product("gemm_hidden_relu", BATCH, CLASSES, HIDDEN),
    product("gemm_weights_1", INPUTS, BATCH, HIDDEN),
    Node("sgd_update", 0, ceil(PARAMETERS / 1024), 1024),
)
TRAINING, VALIDATION = FORWARD + BACKWARD, FORWARD


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
    for number, assumption in enumerate(ASSUMPTIONS, 1):
        yield f"WALLSPLIT_ASSUMPTION_{number:02}", assumption


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


def main(target: Path) -> None:
    """Write the trace, and the manifest beside it."""
    write(target, rows(timeline()))
    beside(target).write_text(to_json(manifest(target)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
