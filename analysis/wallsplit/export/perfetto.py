"""Tracks as Perfetto's own format: TrackEvent packets (https://perfetto.dev/docs/reference/trace-packet-proto)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from wallsplit.export.lanes import Lane, lane_names, lanes
from wallsplit.export.protobuf import Bytes, fixed64, integer, integers, message, messages, rows, text
from wallsplit.export.slices import ArrowIds, Process, Slices, Track

# Field numbers of perfetto/trace/trace_packet.proto and of what is below it.
_PACKET = 1
_TIMESTAMP, _SEQUENCE, _TRACK_EVENT, _INTERNED, _FLAGS, _DESCRIPTOR = 8, 10, 11, 12, 13, 60
_UUID, _NAME, _PROCESS, _PARENT, _ORDERING, _RANK = 1, 2, 3, 5, 11, 12
_PID, _PROCESS_NAME = 1, 6
_TYPE, _NAME_IID, _TRACK_UUID, _FLOWS, _ENDING_FLOWS = 9, 10, 11, 47, 48
_EVENT_NAMES, _IID, _INTERNED_NAME = 2, 1, 2
_BEGIN, _END = 1, 2
_CLEARED, _NEEDED = 1, 2
_EXPLICIT = 3
_ONE_SEQUENCE = integer(_SEQUENCE, 1)
_EDGES_AT_ONCE = 1 << 18
_INT32_MAX = 2**31 - 1


@dataclass
class _Ids:
    """What was already described or named."""

    uuids: dict[object, int] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    children: Counter[int | None] = field(default_factory=Counter)
    """How many tracks each has below it."""


def write(tracks: Iterable[Track], origin_ns: int, file: BinaryIO) -> None:
    """Write tracks as a Perfetto trace; times are counted from `origin_ns`."""
    ids = _Ids()
    file.write(_packet(_ONE_SEQUENCE + integer(_FLAGS, _CLEARED | _NEEDED)))
    for track in tracks:
        split = lanes(track.slices, nests=track.nests)
        group = _described(file, ids, (track.process, track.group), track.group, _process(file, ids, track.process))
        iids = _interned(file, ids, track.slices.names)
        for name, lane in zip(lane_names(track.name, len(split)), split, strict=True):
            uuid = _described(file, ids, (track.process, track.group, name), name, group)
            for first in range(0, len(lane.times), _EDGES_AT_ONCE):
                part = slice(first, first + _EDGES_AT_ONCE)
                edges = Lane(lane.times[part] - origin_ns, lane.rows[part], lane.begins[part])
                file.write(_edges(edges, track.slices, iids, uuid))


def _packet(content: bytes) -> bytes:
    return message(_PACKET, content)


def _process(file: BinaryIO, ids: _Ids, process: Process) -> int:
    pid = integer(_PID, min(process.pid, _INT32_MAX)) + text(_PROCESS_NAME, process.name)
    return _described(file, ids, process, process.name, None, message(_PROCESS, pid))


def _described(file: BinaryIO, ids: _Ids, key: object, name: str, parent: int | None, more: bytes = b"") -> int:
    """Return the id of a track or group of tracks, described at its first use, in that order below its parent."""
    if key not in ids.uuids:
        uuid = ids.uuids[key] = len(ids.uuids) + 1
        ids.children[parent] += 1
        described = integer(_UUID, uuid) + text(_NAME, name) + more
        described += integer(_ORDERING, _EXPLICIT) + integer(_RANK, ids.children[parent])
        described += integer(_PARENT, parent) if parent is not None else b""
        file.write(_packet(_ONE_SEQUENCE + message(_DESCRIPTOR, described)))
    return ids.uuids[key]


def _interned(file: BinaryIO, ids: _Ids, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the number of each name, told at its first use."""
    told = b""
    for name in names:
        if name not in ids.names:
            ids.names[name] = len(ids.names) + 1
            told += message(_EVENT_NAMES, integer(_IID, ids.names[name]) + text(_INTERNED_NAME, name))
    if told:
        file.write(_packet(_ONE_SEQUENCE + integer(_FLAGS, _NEEDED) + message(_INTERNED, told)))
    return np.array([ids.names[name] for name in names], np.int64)


def _edges(edges: Lane, slices: Slices, iids: npt.NDArray[np.int64], uuid: int) -> bytes:
    """Return a packet for each beginning and end, in their order."""
    ends = ~edges.begins
    leaving, arriving = (_of(ids, edges) for ids in (slices.arrow_out, slices.arrow_in))
    plain = edges.begins & (leaving == 0) & (arriving == 0)
    layouts: list[tuple[npt.NDArray[np.intp], Bytes]] = []
    for chosen, flow, arrows in (
        (ends, None, leaving),
        (plain, None, leaving),
        (edges.begins & (leaving != 0), _FLOWS, leaving),
        (edges.begins & (arriving != 0), _ENDING_FLOWS, arriving),
    ):
        mine = np.flatnonzero(chosen)
        if len(mine):
            names = None if chosen is ends else iids[slices.name[edges.rows[mine]]]
            event: list[bytes | Bytes] = [integer(_TYPE, _END if names is None else _BEGIN), integer(_TRACK_UUID, uuid)]
            if names is not None:
                event += integers(_NAME_IID, names)
            if flow is not None:
                event += fixed64(flow, arrows[mine])
            layouts.append((mine, _packets(edges.times[mine], event)))
    return _interleaved(layouts, len(edges.times))


def _of(arrows: ArrowIds | None, edges: Lane) -> ArrowIds:
    return np.zeros(len(edges.rows), np.uint64) if arrows is None else np.where(edges.begins, arrows[edges.rows], 0)


def _packets(times: npt.NDArray[np.int64], event: list[bytes | Bytes]) -> Bytes:
    content = [*integers(_TIMESTAMP, times), _ONE_SEQUENCE + integer(_FLAGS, _NEEDED), *messages(_TRACK_EVENT, event)]
    return rows(messages(_PACKET, content), len(times))


def _interleaved(layouts: Sequence[tuple[npt.NDArray[np.intp], Bytes]], total: int) -> bytes:
    """Return rows of bytes of several widths in the order of their places."""
    width = np.zeros(total, np.int64)
    for places, part in layouts:
        width[places] = part.shape[1]
    first = np.cumsum(width) - width
    content = np.empty(int(width.sum()), np.uint8)
    for places, part in layouts:
        content[first[places][:, None] + np.arange(part.shape[1])] = part
    return content.tobytes()
