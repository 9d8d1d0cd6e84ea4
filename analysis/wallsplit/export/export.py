"""A trace for a timeline viewer: the ledger as a track of each device, above everything it was booked from."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from wallsplit import __version__
from wallsplit.errors import ExportError
from wallsplit.export import chrome, perfetto
from wallsplit.export.ledger_tracks import GROUP, ledger_tracks
from wallsplit.export.new_file import check_free, new_file
from wallsplit.export.recorded_tracks import Recorded, recorded, recorded_tracks
from wallsplit.export.slices import Process, Track
from wallsplit.frozen import dataclass
from wallsplit.ledger.host import host_timelines
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.timeline import summed
from wallsplit.pipeline import Examined, examine, one_window
from wallsplit.text import for_people, visible

Format = Literal["perfetto", "chrome"]
FORMATS: tuple[Format, ...] = ("perfetto", "chrome")
STAGES = ("reading", "writing")
_COMPRESSION = 6


@dataclass(frozen=True)
class ExportedTrack:
    """What is on one track."""

    pid: int
    group: str
    name: str
    slices: int
    totals_ns: dict[str, int] | None
    """Of a track of the ledger: the ns of each name on it."""


@dataclass(frozen=True)
class Exported:
    """What was written."""

    path: Path
    size_bytes: int
    format: Format
    window: Window
    """Of the ledger, its causes and steps; everything else is whole, unless a window was asked for."""
    origin_ns: int
    """The time of the trace's clock at 0 of the file."""
    arrows: int
    tracks: tuple[ExportedTrack, ...]

    @property
    def slices(self) -> int:
        """Return how many slices are on all tracks."""
        return sum(track.slices for track in self.tracks)

    def document(self) -> dict[str, Any]:
        """Return it as plain values (docs/sharing.schema.json)."""
        window = {"name": visible(self.window.name), "start_ns": self.window.start_ns, "end_ns": self.window.end_ns}
        return {
            "schema_version": 1,
            "generator": {"name": "wallsplit", "version": __version__},
            "exported": {
                "path": visible(str(self.path)),
                "size_bytes": self.size_bytes,
                "format": self.format,
                "window": window,
                "origin_ns": self.origin_ns,
                "arrows": self.arrows,
                "tracks": [vars(track) for track in self.tracks],
            },
        }


def export(
    source: Path,
    target: Path,
    *,
    chosen: Format | None = None,
    window: str | None = None,
    force: bool = False,
    shown_as: Path | None = None,
    advance: Callable[[str], None] = lambda _stage: None,
) -> Exported:
    """Write the export at `source` as a timeline to `target`, compressed if that ends in `.gz`.

    `chosen`: the format, else by the name: Chrome's for `.json`. With a window, only rows that overlap it are written,
    whole. `shown_as` is the path the user gave, where that was a report; `advance` is told each of STAGES as it begins.

    Raises:
        TraceError: `source` is no complete nsys export.
        WindowError: the trace has no such window, or nothing to show at all.
        ExportError: something is in the way, or cannot be written.
    """
    check_free(target, force=force, source=shown_as or source)
    name = target.name.removesuffix(".gz")
    form: Format = chosen or ("chrome" if name.endswith(".json") else "perfetto")
    advance(STAGES[0])
    examined = examine(source)
    selected = one_window(examined, window)
    rows = recorded(examined.model, selected if window else None)
    origin = min(0, rows.first_ns, selected.start_ns)
    advance(STAGES[1])
    written: list[ExportedTrack] = []
    with new_file(target) as temporary:
        with ExitStack() as files:
            file = cast(BinaryIO, files.enter_context(temporary.open("wb")))
            if target.name.endswith(".gz"):
                packed = gzip.GzipFile("", "wb", _COMPRESSION, file, mtime=0)
                file = cast(BinaryIO, files.enter_context(packed))
            write = perfetto.write if form == "perfetto" else chrome.write
            write(_noted(tracks(examined, rows, selected), written), origin, file)
        if not written:
            raise ExportError(f"{visible(str(shown_as or source))}: has nothing to show on a timeline")
        size = temporary.stat().st_size
    arrows = int((rows.operations["arrow"] != 0).sum())
    return Exported(target, size, form, selected, origin, arrows, tuple(written))


def tracks(examined: Examined, rows: Recorded, window: Window) -> Iterator[Track]:
    """Yield the tracks of a trace, process by process, the ledger's first.

    Raises:
        LedgerError: the slices of a ledger's track do not add up to the ledger.
    """
    model, activities = examined.model, examined.activities
    names = {int(pid): for_people(name) for pid, name in model.processes.select("pid", "name").iter_rows()}
    hosts = host_timelines(model, activities)
    for pid in sorted({activity.pid for activity in activities} | rows.pids):
        process = Process(pid, f"{names.get(pid, 'process')} {pid}")
        for activity, host in zip(activities, hosts, strict=True):
            if activity.pid == pid:
                yield from ledger_tracks(model, activity, host, window, process)
        yield from recorded_tracks(rows, model, process)


def _noted(every: Iterator[Track], written: list[ExportedTrack]) -> Iterator[Track]:
    for track in every:
        totals = None
        if track.group == GROUP and not track.name.startswith("steps"):
            slices = track.slices
            ns = summed(slices.name, slices.end - slices.start, len(slices.names))
            totals = dict(zip(slices.names, ns.tolist(), strict=True))
        written.append(ExportedTrack(track.process.pid, track.group, track.name, len(track.slices), totals))
        yield track
