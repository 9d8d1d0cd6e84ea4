"""What a file is, judged by its first bytes and its neighbours; every wrong kind has its own sentence."""

import stat
from contextlib import suppress
from pathlib import Path

from wallsplit.errors import TraceError

SQLITE_MAGIC = b"SQLite format 3\0"
REPORT_SUFFIXES = (".nsys-rep", ".qdrep")
EXPORT_HINT = "export it where nsys is installed: nsys export --type sqlite -o {stem}.sqlite {name}"


def export_sentence(path: Path) -> str:
    """Return the sentence that says how to turn an nsys report into a trace."""
    return f"{path}: is an nsys report, not an export; " + EXPORT_HINT.format(stem=path.stem, name=path.name)


def check_sqlite_file(path: Path) -> None:
    """Return if `path` looks like a complete SQLite file.

    Raises:
        TraceError: it does not exist, is of another kind, is incomplete, or has a journal beside it.
    """
    header = _first_bytes(path)
    if not header:
        raise TraceError(f"{path}: the file is empty; export the report again")
    if not header.startswith(SQLITE_MAGIC):
        raise TraceError(_what_it_is_instead(path, header))
    if rest := journal(path):
        raise TraceError(
            f"{path}: has unfinished changes in {rest.name} beside it; export the report again to a new file"
        )
    _check_length(path, header)


def _first_bytes(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever
            raise TraceError(f"{path}: is no plain file; give the path of an nsys export (.sqlite)")
        with path.open("rb") as file:
            return file.read(100)
    except FileNotFoundError:
        advice = "give the path of an nsys export (.sqlite) or report (.nsys-rep)"
        raise TraceError(f"{path}: no such file; {advice}") from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None


def _what_it_is_instead(path: Path, header: bytes) -> str:
    suffix = path.suffix.lower()
    if suffix in REPORT_SUFFIXES:
        return export_sentence(path)
    if suffix == ".qdstrm":
        return (
            f"{path}: is a raw nsys stream (.qdstrm), left by a recording that was not finished; "
            "turn it into a report with QdstrmImporter of the same nsys version, then export that"
        )
    if not any(header[:16]):
        return f"{path}: its header is all zeros, as an interrupted export leaves it; export the report again"
    return f"{path}: is not an SQLite file; give an nsys export (nsys export --type sqlite)"


def page_size(header: bytes) -> int:
    """Return the size in bytes of an SQLite file's pages, as its first 100 bytes state it; 65,536 is written as 1."""
    size = int.from_bytes(header[16:18])
    return 65536 if size == 1 else size


def journal(path: Path) -> Path | None:
    """Return the journal beside an SQLite file that holds a part of the database; None where the file is all of it."""
    for suffix in ("-wal", "-journal"):
        beside = path.with_name(path.name + suffix)
        with suppress(OSError):
            if beside.stat().st_size > 0:
                return beside
    return None


def _check_length(path: Path, header: bytes) -> None:
    if len(header) < 100:
        raise TraceError(f"{path}: is truncated (only {len(header)} bytes); export the report again")
    whole = int.from_bytes(header[28:32]) * page_size(header)
    # The page count is only kept up to date by writers that also copy the change counter to byte 92.
    trusted = header[24:28] == header[92:96]
    size = path.stat().st_size
    if trusted and whole > size:
        raise TraceError(
            f"{path}: is truncated ({size:,} of {whole:,} bytes); copy it again or export the report again"
        )
