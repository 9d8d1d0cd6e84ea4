"""Tiny traces written inline: each call is one row, in nsys' own schema, tables made only when they get a row.

Of GPU operations, columns that a test is about are named as nsys names them: `build.kernel(0, 9, gridX=2, blockX=32)`.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import sqlite_utils

from wallsplit.model import Model, load
from wallsplit.trace import Trace

HOST = 1 << 48
Row = dict[str, Any]
Frame = tuple[str, str | None]


def global_id(pid: int, tid: int = 0) -> int:
    """Return a global id as nsys packs it: host, process, thread."""
    return HOST | pid << 24 | tid


@dataclass
class TraceBuilder:
    """Collects rows; `write` makes the SQLite file, `model` loads it."""

    path: Path
    rows: dict[str, list[Row]] = field(default_factory=dict)
    strings: dict[str, int] = field(default_factory=dict)
    correlation: int = 1_000_000

    def add(self, table: str, **row: Any) -> Self:
        self.rows.setdefault(table, []).append(row)
        return self

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings) + 1)

    def _id(self, given: int | None) -> int:
        self.correlation += 1
        return self.correlation if given is None else given

    def api(
        self,
        name: str,
        start: int,
        end: int | None,
        corr: int | None = None,
        pid: int = 1,
        tid: int = 1,
        result: int = 0,
    ) -> Self:
        return self.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            start=start,
            end=end,
            eventClass=0,
            globalTid=global_id(pid, tid),
            correlationId=self._id(corr),
            nameId=self.string(name),
            returnValue=result,
        )

    def kernel(
        self,
        start: int,
        end: int | None,
        corr: int | None = None,
        name: str = "k",
        pid: int = 1,
        device: int = 0,
        **columns: int,
    ) -> Self:
        return self.add(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            start=start,
            end=end,
            deviceId=device,
            correlationId=self._id(corr),
            globalPid=global_id(pid),
            demangledName=self.string(name),
            shortName=self.string(name.split("<")[0]),
            **columns,
        )

    def graph(
        self,
        start: int,
        end: int,
        corr: int | None = None,
        graph: int = 1,
        pid: int = 1,
        device: int = 0,
        **columns: int,
    ) -> Self:
        return self.add(
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
            start=start,
            end=end,
            deviceId=device,
            correlationId=self._id(corr),
            globalPid=global_id(pid),
            graphId=graph,
            **columns,
        )

    def copy(
        self,
        start: int,
        end: int,
        corr: int | None = None,
        kind: int = 1,
        size: int = 4,
        pid: int = 1,
        device: int = 0,
        **columns: int,
    ) -> Self:
        return self.add(
            "CUPTI_ACTIVITY_KIND_MEMCPY",
            start=start,
            end=end,
            deviceId=device,
            correlationId=self._id(corr),
            globalPid=global_id(pid),
            bytes=size,
            copyKind=kind,
            **columns,
        )

    def memset(
        self,
        start: int,
        end: int,
        corr: int | None = None,
        size: int = 4,
        pid: int = 1,
        device: int = 0,
        **columns: int,
    ) -> Self:
        return self.add(
            "CUPTI_ACTIVITY_KIND_MEMSET",
            start=start,
            end=end,
            deviceId=device,
            correlationId=self._id(corr),
            globalPid=global_id(pid),
            bytes=size,
            **columns,
        )

    def range(
        self, name: str, start: int, end: int | None, pid: int = 1, tid: int = 1, event_type: int = 59, domain: int = 0
    ) -> Self:
        return self.add(
            "NVTX_EVENTS",
            start=start,
            end=end,
            eventType=event_type,
            text=name,
            globalTid=global_id(pid, tid),
            textId=None,
            domainId=domain,
        )

    def osrt(self, name: str, start: int, end: int, pid: int = 1, tid: int = 1) -> Self:
        return self.add("OSRT_API", start=start, end=end, globalTid=global_id(pid, tid), nameId=self.string(name))

    def overhead(self, start: int, end: int, pid: int = 1, tid: int = 1) -> Self:
        return self.add("PROFILER_OVERHEAD", start=start, end=end, globalTid=global_id(pid, tid), nameId=1)

    def sample(self, start: int, *frames: Frame, pid: int = 1, tid: int = 1) -> Self:
        """Add a CPU sample; its frames are (module, symbol), the leaf first."""
        number = len(self.rows.get("COMPOSITE_EVENTS", [])) + 1
        for depth, (module, symbol) in enumerate(frames):
            self.add(
                "SAMPLING_CALLCHAINS",
                id=number,
                symbol=self.string(symbol or "0x7f00"),
                module=self.string(module),
                kernelMode=0,
                unresolved=int(symbol is None),
                stackDepth=depth,
            )
        return self.add("COMPOSITE_EVENTS", id=number, start=start, globalTid=global_id(pid, tid), cpuCycles=1)

    def on_cpu(self, start: int, end: int, pid: int = 1, tid: int = 1) -> Self:
        """Add the scheduler's two events of a stretch on a CPU."""
        for time, is_in in ((start, 1), (end, 0)):
            self.add("SCHED_EVENTS", start=time, cpu=0, isSchedIn=is_in, globalTid=global_id(pid, tid))
        return self

    def sampled_every(self, period: int, trigger: str = "Software") -> Self:
        settings = {"SAMPLING_PERIOD": period, "CPU_IP_TRIGGER_TYPE": trigger, "SAMPLES_PER_BACKTRACE": 4}
        for name, value in settings.items():
            self.add("META_DATA_CAPTURE", name=f"LINUX_PERF_OPTIONS:{name}", value=str(value))
        return self

    def thread_name(self, name: str, pid: int = 1, tid: int = 1) -> Self:
        return self.add("ThreadNames", nameId=self.string(name), globalTid=global_id(pid, tid))

    def process(self, name: str, pid: int = 1) -> Self:
        return self.add("PROCESSES", globalPid=global_id(pid), pid=pid, name=name)

    def duration(self, ns: int) -> Self:
        return self.add("ANALYSIS_DETAILS", globalVid=HOST, duration=ns, startTime=5 * ns, stopTime=6 * ns)

    def write(self) -> Path:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)
        with closing(sqlite_utils.Database(self.path)) as db:
            for table, rows in self.rows.items():
                db.table(table).create(_columns(rows))
                db.table(table).insert_all(rows)
            db.table("StringIds").create({"id": int, "value": str}, pk="id")
            db.table("StringIds").insert_all({"id": number, "value": text} for text, number in self.strings.items())
        return self.path

    def model(self) -> Model:
        return load(Trace.open(self.write()))


def _columns(rows: Sequence[Row]) -> dict[str, type]:
    text = {"text", "name"} | {column for row in rows for column, value in row.items() if isinstance(value, str)}
    return {column: str if column in text else int for row in rows for column in row}
