"""Timelines: the ledger's track is the ledger, every row is there once, and both formats say the same."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from analyses import HOSTILE
from builders import TraceBuilder
from perfetto_trace import ReadTrack, read
from shared_traces import SHARED, TRACES, needs_shared_traces
from wallsplit.errors import ExportError, LedgerError, WindowError
from wallsplit.export import ledger_tracks
from wallsplit.export.export import export
from wallsplit.ledger import booking
from wallsplit.pipeline import analyze

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs" / "sharing.schema.json").read_text(encoding="utf-8"))
SLICES = json.loads((SHARED / "oracle_compare" / "ledger_track_slices.json").read_text()) if SHARED else {}


def training(path: Path) -> Path:
    """Return three steps: a copy, two kernels on two streams, a wait; one kernel's call was not recorded."""
    build = TraceBuilder(path).process("/usr/bin/python3", pid=1)
    for step in range(3):
        at = 1_000 + 1_000 * step
        build.range("step", at, at + 900).range("forward", at + 100, at + 400)
        build.api("cudaMemcpyAsync", at, at + 50, corr=10 * step + 1).copy(at + 60, at + 90, 10 * step + 1, streamId=7)
        build.api("cudaLaunchKernel", at + 100, at + 120, corr=10 * step + 2)
        build.kernel(at + 130, at + 600, corr=10 * step + 2, name="gemm", streamId=7)
        build.kernel(at + 300, at + 700, corr=10 * step + 3, name="norm", streamId=8)
        build.api("cudaDeviceSynchronize", at + 150, at + 800)
    return build.write()


def tracks_of(path: Path) -> dict[tuple[str, ...], ReadTrack]:
    return {(*track.path, track.name): track for track in read(path)}


def test_the_tracks_lie_below_their_process_and_group(tmp_path: Path) -> None:
    done = export(training(tmp_path / "in.sqlite"), tmp_path / "out.pftrace")
    found = tracks_of(tmp_path / "out.pftrace")
    assert list(found) == [
        ("python3 1", "Ledger", "ledger, GPU 0"),
        ("python3 1", "Ledger", "causes, GPU 0"),
        ("python3 1", "Ledger", "steps, GPU 0"),
        ("python3 1", "CUDA calls", "CUDA calls, thread 1"),
        ("python3 1", "NVTX", "NVTX, thread 1"),
        ("python3 1", "GPU 0", "GPU 0, stream 7"),
        ("python3 1", "GPU 0", "GPU 0, stream 8"),
    ]
    assert [track.slices for track in done.tracks] == [len(track.slices) for track in found.values()]
    steps = found["python3 1", "Ledger", "steps, GPU 0"].slices
    assert steps == [(1_000, 1_900, "step 1"), (2_000, 2_900, "step 2"), (3_000, 3_800, "step 3")]


def test_a_slice_is_a_row_with_its_times_and_its_name(tmp_path: Path) -> None:
    export(training(tmp_path / "in.sqlite"), tmp_path / "out.pftrace")
    found = tracks_of(tmp_path / "out.pftrace")
    ranges = [slice_ for slice_ in found["python3 1", "NVTX", "NVTX, thread 1"].slices if slice_[0] < 2_000]
    assert ranges == [(1_100, 1_400, "forward"), (1_000, 1_900, "step")]
    assert found["python3 1", "GPU 0", "GPU 0, stream 8"].slices[0] == (1_300, 1_700, "norm")


def test_an_arrow_has_both_ends_and_leads_from_a_call_to_its_first_operation(tmp_path: Path) -> None:
    done = export(training(tmp_path / "in.sqlite"), tmp_path / "out.pftrace")
    out = sum((track.flows for track in read(tmp_path / "out.pftrace")), Counter())
    into = sum((track.ending_flows for track in read(tmp_path / "out.pftrace")), Counter())
    expected = Counter(1 << 40 | 10 * step + call for step in range(3) for call in (1, 2))
    assert out == into == expected
    assert done.arrows == 6


def test_of_a_graph_s_kernels_only_the_first_gets_the_arrow(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "in.sqlite").api("cudaGraphLaunch", 0, 10, corr=5)
    build.kernel(40, 50, corr=5, name="later").kernel(20, 30, corr=5, name="first")
    export(build.write(), tmp_path / "out.pftrace")
    (stream,) = (track for track in read(tmp_path / "out.pftrace") if "stream" in track.name)
    assert stream.ending_flows == {1 << 40 | 5: 1}
    lines = chrome(tmp_path)
    (arrow,) = (event for event in lines if event["ph"] == "f")
    assert arrow["ts"] == 0.02


def chrome(folder: Path) -> list[dict[str, Any]]:
    export(folder / "in.sqlite", folder / "out.json", force=True)
    events: list[dict[str, Any]] = json.loads((folder / "out.json").read_text())["traceEvents"]
    return events


def test_both_formats_hold_the_same_slices(tmp_path: Path) -> None:
    done = export(training(tmp_path / "in.sqlite"), tmp_path / "out.pftrace.gz")
    native = Counter(slice_ for track in read(tmp_path / "out.pftrace.gz") for slice_ in track.slices)
    events = chrome(tmp_path)
    shown = [event for event in events if event["ph"] == "X"]
    times = [(round(e["ts"] * 1_000), round((e["ts"] + e["dur"]) * 1_000), e["name"]) for e in shown]
    assert Counter(times) == native
    assert sum(native.values()) == done.slices
    assert len([e for e in events if e["ph"] in "sf"]) == 2 * done.arrows


def test_more_streams_than_lines_share_lanes(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "in.sqlite")
    for stream in range(40):
        build.kernel(10 * stream, 10 * stream + 15, corr=stream, streamId=stream)
    export(build.write(), tmp_path / "out.pftrace")
    names = [track.name for track in read(tmp_path / "out.pftrace") if track.path[-1] == "GPU 0"]
    assert names == ["GPU 0, 40 streams", "GPU 0, 40 streams (2)"]


def test_times_before_zero_move_the_origin(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "in.sqlite").api("cudaLaunchKernel", -500, -400, corr=1).kernel(-300, 200, corr=1)
    done = export(build.write(), tmp_path / "out.pftrace")
    assert done.origin_ns == -500
    (call,) = (track for track in read(tmp_path / "out.pftrace") if track.name.startswith("CUDA calls"))
    assert call.slices == [(0, 100, "cudaLaunchKernel")]


def test_a_window_leaves_out_what_does_not_overlap_it_and_books_the_ledger_in_it(tmp_path: Path) -> None:
    trace = training(tmp_path / "in.sqlite")
    done = export(trace, tmp_path / "out.pftrace", window="2000ns:3000ns")
    found = {track.name: track for track in read(tmp_path / "out.pftrace")}
    assert [slice_[0] for slice_ in found["GPU 0, stream 8"].slices] == [2_300]
    assert sum(found["ledger, GPU 0"].totals.values()) == 1_000
    assert done.window.start_ns == 2_000
    with pytest.raises(WindowError, match="no such NVTX range"):
        export(trace, tmp_path / "other.pftrace", window="nvtx:none")


def test_hostile_names_are_texts_and_nothing_else(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "in.sqlite").process(HOSTILE[0])
    for i, name in enumerate(HOSTILE):
        build.kernel(10 * i, 10 * i + 5, corr=i, name=name).range(name, 10 * i, 10 * i + 7)
    build.write()
    export(tmp_path / "in.sqlite", tmp_path / "out.pftrace")
    names = [name for track in read(tmp_path / "out.pftrace") for _, _, name in track.slices]
    assert not any("\x1b" in name or "\u202e" in name or len(name) > 600 for name in names)
    assert all(ord(c) < 128 for c in json.dumps(chrome(tmp_path)))
    assert (tmp_path / "out.json").read_bytes().isascii()


def test_a_track_that_misses_the_ledger_is_a_defect_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*arguments: Any) -> Any:
        (ledger,) = booking.book(*arguments)
        return (replace(ledger, accounts={**ledger.accounts, "host": 1}),)

    monkeypatch.setattr(ledger_tracks, "book", wrong)
    with pytest.raises(LedgerError, match="do not add up to the ledger"):
        export(training(tmp_path / "in.sqlite"), tmp_path / "out.pftrace")
    assert [path.name for path in tmp_path.iterdir()] == ["in.sqlite"]


def test_what_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    trace, out = training(tmp_path / "in.sqlite"), tmp_path / "out.pftrace"
    out.write_text("mine")
    with pytest.raises(ExportError, match="exists"):
        export(trace, out)
    assert out.read_text() == "mine"
    export(trace, out, force=True)
    assert read(out)


def test_the_same_trace_gives_the_same_bytes(tmp_path: Path) -> None:
    trace = training(tmp_path / "in.sqlite")
    for name in ("a.pftrace.gz", "b.pftrace.gz"):
        export(trace, tmp_path / name)
    assert (tmp_path / "a.pftrace.gz").read_bytes() == (tmp_path / "b.pftrace.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.pftrace.gz").read_bytes())


def test_a_trace_with_nothing_on_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="nothing to show"):
        export(TraceBuilder(tmp_path / "in.sqlite").duration(1_000).write(), tmp_path / "out.pftrace")
    assert not (tmp_path / "out.pftrace").exists()


def test_what_is_printed_is_as_the_schema_says(tmp_path: Path) -> None:
    jsonschema.validate(export(training(tmp_path / "in.sqlite"), tmp_path / "out.pftrace").document(), SCHEMA)


@needs_shared_traces
@pytest.mark.parametrize("name", [name for name in TRACES if name != "no_cuda_events_jacc"])
def test_the_ledger_s_track_is_the_ledger_with_as_few_slices_as_can_be(name: str, tmp_path: Path) -> None:
    done = export(TRACES[name], tmp_path / "out.pftrace")
    found = [track for track in done.tracks if track.name.startswith("ledger")]
    assert {f"{name} {t.pid} {t.name[12:] or None}": t.slices for t in found} == {
        key: count for key, count in SLICES.items() if key.startswith(f"{name} ")
    }
    ledgers = analyze(TRACES[name]).ledgers
    assert [{k: v for k, v in (t.totals_ns or {}).items() if v} for t in found] == [
        {account: ns for account, ns in ledger.accounts.items() if ns} for ledger in ledgers
    ]


@needs_shared_traces
@pytest.mark.parametrize("name", ["torch_ddp_2xh100_before", "multistream_t4", "mpi4_v100_openacc"])
def test_a_real_trace_is_read_back_with_both_ends_of_every_arrow(name: str, tmp_path: Path) -> None:
    done = export(TRACES[name], tmp_path / "out.pftrace")
    found = read(tmp_path / "out.pftrace")
    assert sum(len(track.slices) for track in found) == done.slices
    out = sum((track.flows for track in found), Counter())
    into = sum((track.ending_flows for track in found), Counter())
    assert out == into
    assert set(out.values()) == {1}
    assert len(out) == done.arrows
    ledgers = [track.totals for track in found if track.name.startswith("ledger")]
    assert ledgers == [{a: ns for a, ns in x.accounts.items() if ns} for x in analyze(TRACES[name]).ledgers]
