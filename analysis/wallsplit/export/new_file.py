"""One new file: never over another, never half written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wallsplit.aside import private_folder
from wallsplit.errors import ExportError
from wallsplit.text import visible


def check_free(path: Path, *, force: bool, source: Path | None = None) -> None:
    """Return if a file may be written at `path`: nothing is there, or a file that `force` allows to replace.

    Raises:
        ExportError: something is there; with `force` only where it is no plain file, or `source` itself.
    """
    try:
        if path.is_dir():
            raise ExportError(f"{_show(path)}: is a folder; name a file")
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise ExportError(f"{_show(path)}: is the trace itself, which is never replaced; name another file")
        if not path.is_symlink() and not path.exists():
            return
    except OSError as error:
        raise ExportError(f"{_show(path)}: cannot look at it ({error.strerror}); name another file") from None
    if not force:
        raise ExportError(f"{_show(path)}: exists; move it away or use --force to replace it")
    if not path.is_symlink() and not path.is_file():
        raise ExportError(f"{_show(path)}: is no plain file; name another file")


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a path aside to write to; the file gets its name when the block ends, and is removed if it fails.

    Raises:
        ExportError: it cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with private_folder(path.parent, path.name) as folder:
            aside = folder / path.name
            yield aside
            aside.replace(path)
    except OSError as error:
        raise ExportError(f"{_show(path)}: cannot write there ({error.strerror}); name another file") from None


def _show(path: Path) -> str:
    return visible(str(path))
