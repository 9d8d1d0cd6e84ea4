"""Reports onto disk: all or nothing, and never over what is not ours."""

from collections.abc import Sequence
from pathlib import Path

from wallsplit.aside import private_folder
from wallsplit.errors import ReportError
from wallsplit.frozen import dataclass
from wallsplit.text import visible

_NEAR = 1 << 16  # bytes at either end of a file in which its mark is looked for


@dataclass(frozen=True)
class File:
    """A file to write. An existing file that holds `mark` near its start or end is ours and may be overwritten."""

    name: str
    content: bytes
    mark: bytes


def write(files: Sequence[File], folder: Path, *, force: bool = False) -> tuple[Path, ...]:
    """Write the files into the folder, made if need be, and return their paths in order.

    Everything is checked and written aside before the first file gets its name. Without `force`, neither a file that
    lacks its mark nor a symbolic link is replaced; with it they are, the link itself and never what it leads to.

    Raises:
        ReportError: a file may not be replaced, or the folder cannot be written to; nothing was changed.
    """
    paths = [folder / file.name for file in files]
    for file, path in zip(files, paths, strict=True):
        _check(file, path, force=force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with private_folder(folder, "wallsplit") as aside:
            for file in files:
                _write_new(aside / file.name, file.content)
            for file, path in zip(files, paths, strict=True):
                (aside / file.name).replace(path)
    except OSError as error:
        reason = f"cannot write there ({error.strerror})"
        raise ReportError(f"{_show(folder)}: {reason}; choose another folder") from None
    return tuple(paths)


def _write_new(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)


def _check(file: File, path: Path, *, force: bool) -> None:
    try:
        if path.is_symlink():
            kind = "is a symbolic link"
        elif path.is_dir():
            raise ReportError(f"{_show(path)}: is a folder, and a report would go there; choose another folder")
        elif not path.exists() or (path.is_file() and _is_ours(path, file.mark)):  # opening a pipe would wait for ever
            return
        else:
            kind = "exists and was not written by wallsplit"
    except OSError as error:
        raise ReportError(f"{_show(path)}: cannot look at it: {error.strerror}; choose another folder") from None
    if not force:
        raise ReportError(f"{_show(path)}: {kind}; move it away or use --force to replace it")


def _is_ours(path: Path, mark: bytes) -> bool:
    with path.open("rb") as file:
        head = file.read(_NEAR)
        file.seek(max(0, path.stat().st_size - _NEAR))
        return mark in head or mark in file.read(_NEAR)


def _show(path: Path) -> str:
    return visible(str(path))
