"""What a capture brought home, read from its export right after it was made: NVTX ranges, epochs, duration."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wallsplit.errors import CaptureError, TraceError
from wallsplit_scripts.nsys import parse_version

if TYPE_CHECKING:
    import polars as pl

    from wallsplit.trace import Trace

NVTX_PAYLOADS_SINCE = (0, 2, 12)  # nvtx pushes ranges through NVTX' payload extension …
NSYS_PAYLOADS_SINCE = (2024, 1)  # … whose present form nsys 2023.4 drops without a word


def nvtx_ranges(export: Path, names: Iterable[str] | None = None) -> int:
    """Return how many finished NVTX ranges the export holds, of those names or of any.

    Raises:
        CaptureError: the export cannot be read.
    """
    with _opened(export) as trace:
        ranges = _ranges(trace)
    return ranges.height if names is None else int(ranges["range"].is_in(list(names)).sum())


def epochs_utc(export: Path) -> list[tuple[int, int]]:
    """Return start and end of the NVTX ranges named "epoch", in ns of UTC, in order; none where that is not recorded.

    Raises:
        CaptureError: the export cannot be read.
    """
    from wallsplit.model.capture import capture

    with _opened(export) as trace:
        origin, ranges = capture(trace).start_utc_ns, _ranges(trace)
    if origin is None:
        return []
    epochs = ranges.filter(ranges["range"] == "epoch").sort("start")
    return [(origin + start, origin + end) for start, end in epochs.select("start", "end").iter_rows()]


def capture_ns(export: Path) -> int | None:
    """Return how long nsys recorded the program, start of the process included, in ns; None where it does not say.

    Raises:
        CaptureError: the export cannot be read.
    """
    from wallsplit.model.capture import capture

    with _opened(export) as trace:
        return capture(trace).duration_ns


def why_no_ranges(nvtx_version: str | None, nsys_version: Sequence[int]) -> str | None:
    """Return why this nsys records no NVTX ranges of this package `nvtx`, and what to do; None where it should."""
    if nvtx_version is None:
        return "the Python package nvtx is missing: pip install 'nvtx<0.2.12'"
    if parse_version(nvtx_version) >= NVTX_PAYLOADS_SINCE and tuple(nsys_version) < NSYS_PAYLOADS_SINCE:
        nsys = ".".join(map(str, nsys_version))
        return (
            f"nvtx {nvtx_version} and nsys {nsys} clash: ranges of nvtx 0.2.12 and later are lost before nsys 2024; "
            "pip install 'nvtx<0.2.12' or take a newer nsys"
        )
    return None


@contextmanager
def _opened(export: Path) -> "Iterator[Trace]":
    from wallsplit.trace import Trace

    try:
        yield Trace.open(export)
    except TraceError as error:
        raise CaptureError(f"the export just made cannot be read: {error}") from error


def _ranges(trace: "Trace") -> "pl.DataFrame":
    """Return start, end (ns) and name of the finished NVTX ranges."""
    from wallsplit.model.model import load_nvtx

    ranges, names = load_nvtx(trace)
    return ranges.frame.select("start", "end", names.text(ranges.frame["range"]))
