"""Whether a file is still the one that was opened."""

from pathlib import Path

from wallsplit.errors import TraceError

Stamp = tuple[int, int, int]


def stamp(path: Path) -> Stamp:
    """Return size in bytes, modification time in ns and inode of a file: equal stamps, same file.

    Raises:
        TraceError: the file is not there any more.
    """
    try:
        stat = path.stat()
    except OSError as error:
        raise TraceError(f"{path}: vanished while it was read ({error.strerror}); repeat") from None
    return stat.st_size, stat.st_mtime_ns, stat.st_ino
