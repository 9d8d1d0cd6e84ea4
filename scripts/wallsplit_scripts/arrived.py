"""What a capture brought home, read from its export right after it was made: NVTX ranges, epochs, duration."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from wallsplit.errors import CaptureError
from wallsplit_scripts.nsys import parse_version

_RANGES = "(59, 60, 70, 71)"  # eventType: push/pop and start/end ranges, of the process and of the thread
NVTX_PAYLOADS_SINCE = (0, 2, 12)  # nvtx pushes ranges through NVTX' payload extension …
NSYS_PAYLOADS_SINCE = (2024, 1)  # … whose present form nsys 2023.4 drops without a word


def nvtx_ranges(export: Path, names: Iterable[str] | None = None) -> int:
    """Return how many finished NVTX ranges the export holds, of those names or of any.

    Raises:
        CaptureError: the export cannot be read.
    """
    chosen = None if names is None else list(names)
    where = "" if chosen is None else f"AND coalesce(text, value) IN ({', '.join('?' * len(chosen))})"
    rows = _query(
        export,
        "NVTX_EVENTS",
        "SELECT count(*) FROM NVTX_EVENTS LEFT JOIN StringIds ON StringIds.id = textId "  # noqa: S608 - constants
        f"WHERE eventType IN {_RANGES} AND end IS NOT NULL {where}",
        chosen or (),
    )
    return rows[0][0] if rows else 0


def epochs_utc(export: Path) -> list[tuple[int, int]]:
    """Return start and end of the NVTX ranges named "epoch", in ns of UTC, in order; none where the export cannot tell.

    Raises:
        CaptureError: the export cannot be read.
    """
    origin = _query(
        export, "TARGET_INFO_SESSION_START_TIME", "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", ()
    )
    rows = _query(
        export,
        "NVTX_EVENTS",
        "SELECT start, end FROM NVTX_EVENTS LEFT JOIN StringIds ON StringIds.id = textId "  # noqa: S608 - constants
        f"WHERE eventType IN {_RANGES} AND end IS NOT NULL AND coalesce(text, value) = 'epoch' ORDER BY start",
        (),
    )
    return [(origin[0][0] + start, origin[0][0] + end) for start, end in rows] if origin else []


def capture_ns(export: Path) -> int | None:
    """Return how long nsys recorded the program, start of the process included, in ns.

    Raises:
        CaptureError: the export cannot be read.
    """
    rows = _query(export, "ANALYSIS_DETAILS", "SELECT duration FROM ANALYSIS_DETAILS", ())
    return rows[0][0] if rows else None


def why_no_ranges(nvtx_version: str | None, nsys_version: Sequence[int]) -> str | None:
    """Return why this nsys records no NVTX ranges of this version of `nvtx`, and what to do; None where it should."""
    if nvtx_version is None:
        return "the Python package nvtx is missing: pip install 'nvtx<0.2.12'"
    if parse_version(nvtx_version) >= NVTX_PAYLOADS_SINCE and tuple(nsys_version) < NSYS_PAYLOADS_SINCE:
        nsys = ".".join(map(str, nsys_version))
        return (
            f"nvtx {nvtx_version} and nsys {nsys} clash: ranges of nvtx 0.2.12 and later are lost before nsys 2024; "
            "pip install 'nvtx<0.2.12' or take a newer nsys"
        )
    return None


def _query(export: Path, table: str, query: str, values: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the rows; none where nsys made no such table because it had nothing for it."""
    uri = f"{export.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as database:
            if not database.execute(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
            ).fetchone():
                return []
            return database.execute(query, values).fetchall()
    except sqlite3.Error as error:
        raise CaptureError(f"{export}: the export just made cannot be read ({error}); capture again") from error
