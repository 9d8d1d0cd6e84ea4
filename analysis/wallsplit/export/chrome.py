"""Tracks as Chrome's JSON ("Trace Event Format"): for viewers that read nothing else; ns are decimals of its µs."""

import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import polars as pl

from wallsplit.export.lanes import Lane, lane_names, lanes
from wallsplit.export.slices import Slices, Track

_LINES_AT_ONCE = 1 << 17


def write(tracks: Iterable[Track], origin_ns: int, file: BinaryIO) -> None:
    """Write tracks, one thread each, as JSON; times are counted from `origin_ns`."""
    file.write(b'{"displayTimeUnit":"ns","traceEvents":[\n')
    separator = b""
    for lines in _lines(tracks, origin_ns):
        file.write(separator + lines.encode("ascii"))
        separator = b",\n"
    file.write(b"\n]}\n")


def _lines(tracks: Iterable[Track], origin_ns: int) -> Iterator[str]:
    processes: set[int] = set()
    thread = 0
    for track in tracks:
        pid = track.process.pid
        if pid not in processes:
            processes.add(pid)
            yield _line({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": track.process.name}})
        split = lanes(track.slices, nests=track.nests)
        for name, lane in zip(lane_names(track.name, len(split)), split, strict=True):
            thread += 1
            own = {"ph": "M", "pid": pid, "tid": thread}
            yield _line({**own, "name": "thread_name", "args": {"name": name}})
            yield _line({**own, "name": "thread_sort_index", "args": {"sort_index": thread}})
            yield from _events(lane, track.slices, track.group, f'"pid":{pid},"tid":{thread}', origin_ns)


def _events(lane: Lane, slices: Slices, group: str, place: str, origin_ns: int) -> Iterator[str]:
    rows = lane.rows[lane.begins]
    names = pl.Series([json.dumps(name) for name in slices.names], dtype=pl.String)
    category = json.dumps(group)
    for first in range(0, len(rows), _LINES_AT_ONCE):
        some = rows[first : first + _LINES_AT_ONCE]
        start, name = slices.start[some], names.gather(slices.name[some])
        shown = pl.DataFrame({"start": start - origin_ns, "ns": slices.end[some] - start, "name": name})
        head = f'{{"ph":"X",{place},"cat":{category},"ts":'
        yield _joined(shown, head, _micros("start"), ',"dur":', _micros("ns"), ',"name":', pl.col("name"), "}")
        for arrows, end in ((slices.arrow_out, '"ph":"s"'), (slices.arrow_in, '"ph":"f","bp":"e"')):
            if arrows is not None and arrows[some].any():
                linked = shown.with_columns(pl.Series("id", arrows[some])).filter(pl.col("id") != 0)
                head = f'{{{end},{place},"cat":"launch","name":"launch","id":"'
                yield _joined(linked, head, pl.col("id").cast(pl.String), '","ts":', _micros("start"), "}")


def _line(event: dict[str, object]) -> str:
    return json.dumps(event, separators=(",", ":"))


def _joined(frame: pl.DataFrame, *parts: pl.Expr | str) -> str:
    line = pl.concat_str(*(pl.lit(part) if isinstance(part, str) else part for part in parts))
    return ",\n".join(frame.select(line).to_series())


def _micros(column: str) -> pl.Expr:
    """Return a column of ns, 0 or above, as µs with three decimals."""
    ns = pl.col(column)
    return pl.concat_str((ns // 1000).cast(pl.String), pl.lit("."), (ns % 1000).cast(pl.String).str.zfill(3))
