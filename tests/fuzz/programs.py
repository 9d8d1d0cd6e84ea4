"""Small sound recordings as tables of rows, made from a seed: what every kind of damage starts from.

Every table that is read has rows, so that a table added to trace/raw.py and not to this page fails a test.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import polars as pl

from wallsplit.trace.raw import TABLES

Value = int | float | str | bytes | None
Row = dict[str, Value]
Tables = dict[str, list[Row]]

PID = 7
UTC_NS = 1_700_000_000_000_000_000
STEP_NS = 20_000
TEXTS = {(name, column) for table in TABLES for name in table.names for column in table.texts}
"""Columns of texts, each with its table."""
API = ("cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cudaDeviceSynchronize_v3020", "cudaGraphLaunch_v10000")
KERNELS = ("void gemm<float, 128>(float *, int)", "ncclKernel_AllReduce(ncclWork *)", "relu_kernel(float *)")


def global_id(pid: int = PID, tid: int = 0) -> int:
    """Return a global id as nsys packs it."""
    return 1 << 48 | pid << 24 | tid


def program(rng: Random, steps: int | None = None) -> Tables:
    """Return the recording of a training loop: launches, copies, waits, graphs, ranges, samples, all of them."""
    recording = _Recording(rng)
    for number in range(rng.randrange(6, 24) if steps is None else steps):
        recording.step(number)
    recording.describe()
    return recording.tables


class _Recording:
    """Rows of a program that is being recorded."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.tables: Tables = {}
        self.names: dict[str, int] = {}
        self.correlation = 0
        self.now = 1_000

    def add(self, table: str, **row: Value) -> None:
        self.tables.setdefault(table, []).append(row)

    def name(self, text: str) -> int:
        return self.names.setdefault(text, len(self.names) + 1)

    def step(self, number: int) -> None:
        """Record a step: data loading, a copy, launches on two threads, a collective, a wait."""
        begun = self.now
        self.host(4_000)
        self.operation("MEMCPY", API[1], 900, bytes=4 << 10, copyKind=1, srcKind=0, dstKind=2, graphNodeId=None)
        for name in KERNELS[: 2 + number % 2]:
            self.kernel(name, tid=1 + number % 2)
        self.operation("MEMSET", API[1], 90, bytes=64, graphNodeId=None)
        self.operation("GRAPH_TRACE", API[3], 1_500, graphId=1, graphExecId=2)
        self.wait()
        self.memory(number)
        self.sample(begun)
        end = self.now = begun + STEP_NS
        thread = global_id(tid=1)
        self.range("step" if number % 2 else f"step {number}", begun, end - 10, thread)
        self.range("forward", begun + 4_100, begun + 9_000, thread, domain=3)

    def host(self, ns: int) -> None:
        call = {"globalTid": global_id(tid=1), "nameId": self.name("poll"), "eventClass": 27}
        self.add("OSRT_API", start=self.now, end=self.now + ns, **call)
        self.range("data_loading", self.now, self.now + ns, global_id(tid=1))
        self.now += ns

    def call(self, name: str, ns: int, tid: int = 1) -> int:
        self.correlation += 1
        self.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            start=self.now,
            end=self.now + ns,
            globalTid=global_id(tid=tid),
            correlationId=self.correlation,
            nameId=self.name(name),
            returnValue=0,
        )
        self.now += ns
        return self.now

    def operation(self, kind: str, api: str, ns: int, tid: int = 1, **columns: Value) -> None:
        start = self.call(api, 300, tid) + 200
        self.add(
            f"CUPTI_ACTIVITY_KIND_{kind}",
            start=start,
            end=start + ns,
            globalPid=global_id(),
            deviceId=0,
            streamId=7,
            correlationId=self.correlation,
            **columns,
        )

    def kernel(self, name: str, tid: int) -> None:
        shape = {axis: self.rng.choice((1, 4, 32)) for axis in ("gridX", "gridY", "gridZ", "blockX", "blockY")}
        self.operation(
            "KERNEL",
            API[0],
            self.rng.randrange(400, 2_000),
            tid,
            **shape,
            blockZ=1,
            demangledName=self.name(name),
            shortName=self.name(name.partition("<")[0].partition("(")[0]),
            registersPerThread=32,
            staticSharedMemory=0,
            dynamicSharedMemory=1_024,
            graphNodeId=None,
        )

    def wait(self) -> None:
        self.call(API[2], 3_000)
        self.add(
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
            start=self.now - 2_900,
            end=self.now - 100,
            globalPid=global_id(),
            deviceId=0,
            streamId=None,
            correlationId=self.correlation,
        )
        self.add("PROFILER_OVERHEAD", start=self.now, end=self.now + 50, globalTid=global_id(tid=1))
        for table in ("P2P", "START_WAIT", "COLLECTIVES", "OTHER"):
            name = self.name("MPI_Allreduce")
            self.add(f"MPI_{table}_EVENTS", start=self.now, end=self.now + 90, globalTid=global_id(tid=1), textId=name)

    def range(self, text: str, start: int, end: int, thread: int, domain: int = 0) -> None:
        self.add(
            "NVTX_EVENTS",
            start=start,
            end=end,
            eventType=59,
            text=text,
            textId=None,
            globalTid=thread,
            endGlobalTid=None,
            domainId=domain,
        )

    def memory(self, number: int) -> None:
        where = {"globalPid": global_id(), "deviceId": 0}
        self.add(
            "CUDA_GPU_MEMORY_USAGE_EVENTS",
            start=self.now,
            **where,
            address=4_096 * (number // 2),
            bytes=1 << 20,
            memKind=2,
            memoryOperationType=number % 2,
        )
        self.add("CUDA_UM_GPU_PAGE_FAULT_EVENTS", start=self.now, end=self.now + 9, **where, numberOfPageFaults=3)
        self.add("CUDA_UM_CPU_PAGE_FAULT_EVENTS", start=self.now, globalPid=global_id())
        for metric in range(6):
            self.add("GPU_METRICS", timestamp=self.now, typeId=0, metricId=metric, value=self.rng.randrange(101))

    def sample(self, start: int) -> None:
        thread = global_id(tid=1)
        self.add("SCHED_EVENTS", start=start, globalTid=thread, isSchedIn=1)
        self.add("SCHED_EVENTS", start=start + STEP_NS - 3_000, globalTid=thread, isSchedIn=0)
        for at in range(start + 100, start + STEP_NS - 3_000, 4_000):
            number = 1 + len(self.tables.get("COMPOSITE_EVENTS", ()))
            self.add("COMPOSITE_EVENTS", id=number, start=at, globalTid=thread)
            for depth, symbol in enumerate(("_PyEval_EvalFrameDefault", "memcpy", "main")):
                self.add(
                    "SAMPLING_CALLCHAINS",
                    id=number,
                    stackDepth=depth,
                    symbol=self.name(symbol),
                    module=self.name("/usr/bin/python3.11"),
                    unresolved=0,
                    kernelMode=0,
                )

    def describe(self) -> None:
        """Add what says where and how it was recorded."""
        self.range("NCCL", 0, 0, global_id(tid=1), domain=3)
        self.tables["NVTX_EVENTS"][-1] |= {"eventType": 75, "end": None}
        self.add("ANALYSIS_DETAILS", duration=self.now + 5_000)
        versions = {"EXPORT_PRODUCT_VERSION": "2025.3.1", "EXPORT_SCHEMA_VERSION": "3.20.4"}
        options = {"SAMPLING_PERIOD": "4000", "CPU_IP_TRIGGER_TYPE": "Software", "SAMPLES_PER_BACKTRACE": "4"}
        for key, text in versions.items():
            self.add("META_DATA_EXPORT", name=key, value=text)
        for key, text in options.items():
            self.add("META_DATA_CAPTURE", name=f"LINUX_PERF_OPTIONS:{key}", value=text)
        self.add(
            "TARGET_INFO_GPU",
            id=0,
            name="NVIDIA A100",
            computeMajor=8,
            computeMinor=0,
            smCount=108,
            clockRate=1_410_000_000,
            totalMemory=40 << 30,
            memoryBandwidth=1_555_000_000_000,
            maxWarpsPerSm=64,
            maxBlocksPerSm=32,
            maxRegistersPerSm=65_536,
            maxShmemPerSm=167_936,
        )
        for metric, name in enumerate(("GR Active", "SMs Active", "SM Issue", "Tensor Active", "DRAM Read Bandwidth")):
            full = f"{name} [Throughput %]"
            self.add("TARGET_INFO_GPU_METRICS", typeId=0, metricId=metric, metricName=full)
        self.add("TARGET_INFO_CUDA_DEVICE", gpuId=0, cudaId=0, pid=PID)
        self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=UTC_NS)
        self.add("PROCESSES", globalPid=global_id(), pid=PID, name="/usr/bin/python3.11")
        self.add("ThreadNames", globalTid=global_id(tid=1), nameId=self.name("pt_main_thread"))
        self.add("DIAGNOSTIC_EVENT", severity=2, globalPid=global_id(), text="Not all events were collected.")
        self.tables["StringIds"] = [{"id": number, "value": text} for text, number in self.names.items()]


def write_sqlite(path: Path, tables: Tables, types: dict[str, str] | None = None, page_size: int = 4_096) -> None:
    """Write tables as nsys exports them; `types` declare columns, by `table.column`, as something else."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA page_size = {page_size}")
        db.execute("PRAGMA synchronous = off")
        for table, rows in tables.items():
            columns = columns_of(rows)
            declared = (
                (types or {}).get(f"{table}.{name}", "TEXT" if (table, name) in TEXTS else "INTEGER")
                for name in columns
            )
            described = (f'"{name}" {kind}' for name, kind in zip(columns, declared, strict=True))
            db.execute(f'CREATE TABLE "{table}" ({", ".join(described)})')
            places = ", ".join("?" * len(columns))
            db.executemany(f'INSERT INTO "{table}" VALUES ({places})', _records(rows, columns))
        db.commit()


def write_folder(folder: Path, tables: Tables, suffix: str) -> None:
    """Write tables as a folder of Parquet or Arrow files; rows whose numbers are none that fits are left out."""
    folder.mkdir()
    for table, rows in tables.items():
        columns = columns_of(rows)
        kinds = {name: pl.String if (table, name) in TEXTS else pl.Int64 for name in columns}
        write_table(folder / f"{table}{suffix}", pl.DataFrame(list(_records(rows, columns)), kinds, orient="row"))


def write_table(file: Path, frame: pl.DataFrame) -> None:
    """Write a frame as nsys writes a table of this suffix."""
    if file.suffix == ".parquet":
        frame.write_parquet(file, compression="snappy")
    else:
        frame.write_ipc_stream(file)


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Return the columns of rows, in order of appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _records(rows: Sequence[Row], columns: Sequence[str]) -> Iterable[tuple[Value, ...]]:
    return (tuple(row.get(name) for name in columns) for row in rows)
