"""Traces made to be expensive: rows in every table that grows with a run, alike, inside each other, or apart."""

from collections.abc import Callable
from pathlib import Path

from builders import TraceBuilder, global_id
from wallsplit.model import Model


def alike(path: Path, size: int) -> TraceBuilder:
    """Return a trace whose rows, `size` a table, are at one time, under one name, with one correlation id."""
    build = TraceBuilder(path)
    for _ in range(size):
        _row(build, 0, 1_000, number=7, place=1)
    return build


def nested(path: Path, size: int) -> TraceBuilder:
    """Return a trace in which every row lies inside the one before."""
    build = TraceBuilder(path)
    for i in range(size):
        _row(build, 10 * i, 20 * size + 1_000 - 10 * i, number=i + 1, place=1)
    return build


def staggered(path: Path, size: int) -> TraceBuilder:
    """Return a trace in which every row overlaps all others and none lies inside another."""
    build = TraceBuilder(path)
    for i in range(size):
        _row(build, 10 * i, 10 * (size + i) + 1_000, number=i + 1, place=1)
    return build


def apart(path: Path, size: int) -> TraceBuilder:
    """Return a trace in which every row has a name, a thread, a process and a device of its own."""
    build = TraceBuilder(path)
    for i in range(size):
        _row(build, 1_000 * i, 1_000 * i + 500, number=i + 1, place=i + 1)
    return build


SHAPES: tuple[Callable[[Path, int], TraceBuilder], ...] = (alike, nested, staggered, apart)


def model_of(shape: Callable[[Path, int], TraceBuilder], folder: Path, size: int) -> Model:
    """Return the trace of that shape and size, loaded."""
    return shape(folder / f"{shape.__name__}-{size}.sqlite", size).model()


def _row(build: TraceBuilder, start: int, end: int, *, number: int, place: int) -> None:
    """Add a row to every table that grows with a run; `place` is process, thread and device."""
    suffix = "" if place == 1 else f" of {place}"
    where = {"pid": place, "tid": place}
    on_gpu = {"pid": place, "device": place, "streamId": place}
    build.api(f"cudaLaunchKernel{suffix}", start, start + (end - start) // 3, number, **where)
    build.kernel(start + 5, end, number, f"k{suffix}", gridX=1, blockX=32, **on_gpu)
    build.copy(start + 5, end, number, **on_gpu).memset(start + 5, end, number, **on_gpu)
    build.graph(start + 5, end, number, graph=number, **on_gpu)
    build.range(f"step{suffix}", start, end, **where).osrt(f"poll{suffix}", start, end, **where)
    build.overhead(start, start + 2, **where).sample(start, ("/bin/python", f"f{suffix}"), **where)
    build.on_cpu(start, end, **where).process(f"python{suffix}", place)
    waits = {"globalPid": global_id(place), "deviceId": place, "streamId": place, "correlationId": number}
    build.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=start, end=end, **waits)
    message = {"severity": 2, "globalPid": global_id(place), "text": f"Not all events were collected{suffix}."}
    build.add("DIAGNOSTIC_EVENT", **message)
