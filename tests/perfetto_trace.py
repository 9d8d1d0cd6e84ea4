"""A Perfetto trace read back by Perfetto's own protocol buffers, where they are installed."""

import gzip
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass
class ReadTrack:
    """One track: its slices are (start, end, name), in order of their ends."""

    name: str
    path: tuple[str, ...]
    """The names of what it lies below, outermost first."""
    slices: list[tuple[int, int, str]] = field(default_factory=list)
    flows: Counter[int] = field(default_factory=Counter)
    ending_flows: Counter[int] = field(default_factory=Counter)

    @property
    def totals(self) -> dict[str, int]:
        """Return the ns of each name."""
        result: Counter[str] = Counter()
        for start, end, name in self.slices:
            result[name] += end - start
        return dict(result)


def read(path: Path) -> list[ReadTrack]:
    """Return the tracks that hold slices; fail where one ends that has not begun, or none has its name."""
    packets: Any = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = packets.Trace()
    content = path.read_bytes()
    trace.ParseFromString(gzip.decompress(content) if path.suffix == ".gz" else content)
    names: dict[int, str] = {}
    described: dict[int, Any] = {}
    tracks: dict[int, ReadTrack] = {}
    running: dict[int, list[tuple[int, str]]] = defaultdict(list)
    latest: dict[int, int] = defaultdict(int)
    assert trace.packet[0].sequence_flags & packets.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        names |= {each.iid: each.name for each in packet.interned_data.event_names}
        if packet.HasField("track_descriptor"):
            described[packet.track_descriptor.uuid] = packet.track_descriptor
        if not packet.HasField("track_event"):
            continue
        event, time = packet.track_event, packet.timestamp
        track = tracks.setdefault(event.track_uuid, _track(described, event.track_uuid))
        assert time >= latest[event.track_uuid]
        latest[event.track_uuid] = time
        if event.type == packets.TrackEvent.TYPE_SLICE_BEGIN:
            running[event.track_uuid].append((time, names[event.name_iid]))
            track.flows.update(event.flow_ids)
            track.ending_flows.update(event.terminating_flow_ids)
        else:
            start, name = running[event.track_uuid].pop()
            track.slices.append((start, time, name))
    assert not any(running.values())
    return list(tracks.values())


def _track(described: dict[int, Any], uuid: int) -> ReadTrack:
    path = []
    above = described[uuid]
    while above.HasField("parent_uuid"):
        above = described[above.parent_uuid]
        path.append(above.name)
    return ReadTrack(described[uuid].name, tuple(reversed(path)))
