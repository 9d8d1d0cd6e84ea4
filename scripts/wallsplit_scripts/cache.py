"""Exports made on the way to an analysis, kept in the user's cache folder while the report is unchanged.

An export is used again only if it is this user's own, closed to everybody else, and what it was when it was made: its
SHA-256 lies beside it. Anything else is exported anew.
"""

import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from wallsplit.aside import private_folder
from wallsplit.errors import CaptureError
from wallsplit.run.manifest import sha256
from wallsplit.trace.identify import REPORT_SUFFIXES

SEAL = ".sha256"  # the suffix of the file that holds an export's own digest


def cache_folder() -> Path:
    """Return where this user's exports go, by the platform's convention."""
    import platformdirs

    return platformdirs.user_cache_path("wallsplit", appauthor=False) / "exports"


def export_of(trace: Path, nsys_option: str | None = None) -> Path:
    """Return the export to read: `trace` itself, or the cached export of an nsys report.

    Raises:
        CaptureError: as for cached_export().
    """
    if not (trace.suffix.lower() in REPORT_SUFFIXES and trace.is_file()):
        return trace
    return cached_export(trace, nsys_option)


def cached_export(report: Path, nsys_option: str | None = None) -> Path:
    """Return the SQLite export of the report, in the user's cache folder; nsys makes it if there is none yet.

    An export holds the whole environment of the profiled program: the folder is open to its owner alone.

    Raises:
        CaptureError: the report cannot be read or changes meanwhile, there is no nsys, it refuses the report, or the
            cache is unwritable or another's.
    """
    from wallsplit_scripts import nsys  # an export needs none

    try:
        size = report.stat().st_size
    except OSError as error:
        raise CaptureError(f"{report}: cannot be read ({error.strerror})") from error
    try:
        path = nsys.locate(nsys_option)
    except CaptureError as error:
        hint = f"nsys export --type=sqlite {report.name!r}"
        raise CaptureError(
            f"{report}: an nsys report, not an export, and {error}; or export it with `{hint}`"
        ) from error
    folder = _own_folder()
    suffix = f"-{size}-{nsys.version_text(path)}.sqlite"
    if any(folder.glob(f"*{suffix}")):  # else there is no need to read the report before it is exported
        entry = folder / f"{_digest(report)}{suffix}"
        if _is_whole(entry):
            return entry
    return _export(report, path, folder, suffix)


def _export(report: Path, nsys_path: Path, folder: Path, suffix: str) -> Path:
    """Export the report and return where the export lies; the report's digest is taken meanwhile."""
    from wallsplit_scripts import nsys

    before = _identity(report)
    try:
        with private_folder(folder, "export") as aside, ThreadPoolExecutor(1) as hashing:
            digest = hashing.submit(_digest, report)
            made, seal = aside / "export.sqlite", aside / "seal"
            nsys.export(nsys_path, report, made)
            entry = folder / f"{digest.result()}{suffix}"
            if _identity(report) != before:
                raise CaptureError(f"{report}: changed while it was exported; analyse it again when it is whole")
            seal.write_text(sha256(made), encoding="ascii")
            entry.with_suffix(SEAL).unlink(missing_ok=True)  # an export without its seal is not used
            made.replace(entry)
            seal.replace(entry.with_suffix(SEAL))
    except OSError as error:
        raise CaptureError(f"{folder}: cannot be written to ({error.strerror})") from error
    return entry


def _is_whole(entry: Path) -> bool:
    """Return whether the export is a file of this user's, closed to others, and unchanged since it was made."""
    with suppress(OSError, UnicodeDecodeError):
        status = entry.lstat()
        ours = sys.platform == "win32" or (status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == 0o600)
        if ours and stat.S_ISREG(status.st_mode):
            return entry.with_suffix(SEAL).read_text(encoding="ascii") == sha256(entry)
    return False


def _own_folder() -> Path:
    """Return the cache folder, made if need be and open to its owner alone.

    Raises:
        CaptureError: it cannot be made, or it is a link or another user's, where anything might have been put.
    """
    folder = cache_folder()
    try:
        folder.parent.parent.mkdir(parents=True, exist_ok=True)
        for part in (folder.parent, folder):
            part.mkdir(mode=0o700, exist_ok=True)
            if sys.platform != "win32":
                _check_owner(part)
        if stat.S_IMODE(folder.stat().st_mode) != 0o700:
            folder.chmod(0o700)
    except OSError as error:
        raise CaptureError(f"{folder}: the cache folder cannot be made ({error.strerror})") from error
    return folder


def _check_owner(folder: Path) -> None:
    """Raise CaptureError if the folder is a link or another user's."""
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode) or status.st_uid != os.geteuid():
        kind = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "another user's"
        raise CaptureError(
            f"{folder}: is {kind}, and exports would be kept there; set XDG_CACHE_HOME to a folder of yours"
        )


def _identity(report: Path) -> tuple[int, ...]:
    """Return what changes when the file does."""
    status = report.stat()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _digest(report: Path) -> str:
    try:
        return sha256(report)
    except OSError as error:
        raise CaptureError(f"{report}: cannot be read ({error.strerror})") from error
