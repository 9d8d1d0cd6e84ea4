"""Private folders in which files are made before they get their names.

Such a folder is locked while it is in use and gone at the end, however that comes. What a killed run leaves behind is
not locked: by that it is recognised, and cleared when the next folder is made beside it.
"""

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

SUFFIX = ".wallsplit-part"
_ATTEMPTS = 5
_WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)  # some network file systems


@contextmanager
def private_folder(parent: Path, name: str) -> Iterator[Path]:
    """Yield a new folder in `parent`, open to its owner alone, for files that are to be called by that name.

    Raises:
        OSError: it cannot be made.
    """
    with _held(parent, lambda: Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=SUFFIX, dir=parent))) as folder:
        yield folder


@contextmanager
def only_folder(parent: Path, name: str) -> Iterator[Path]:
    """Yield the one folder of that name, open to its owner alone: as long as it is held, nobody else gets it.

    Raises:
        BlockingIOError: another process holds it.
        OSError: it cannot be made.
    """

    def make() -> Path:
        folder = parent / f".{name}{SUFFIX}"
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError as error:
            raise BlockingIOError(error.errno, "in use", str(folder)) from error
        return folder

    with _held(parent, make) as folder:
        yield folder


def clear_left_overs(parent: Path) -> None:
    """Remove what killed runs of this user left in the folder."""
    for left in parent.glob(f".*{SUFFIX}"):
        with suppress(OSError), _locked(left):
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _held(parent: Path, make: Callable[[], Path]) -> Iterator[Path]:
    """Yield the folder that `make` makes, locked; it is removed afterwards."""
    clear_left_overs(parent)
    with ExitStack() as lock:
        for attempt in range(1, _ATTEMPTS + 1):
            folder = make()
            try:
                lock.enter_context(_locked(folder))
                break
            except OSError as error:
                if error.errno in _WITHOUT_LOCKS:
                    break  # nothing there is ever taken for a left-over
                if attempt == _ATTEMPTS or not isinstance(error, (BlockingIOError, FileNotFoundError)):
                    raise  # else another process took it for a left-over before it was locked
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if sys.platform == "win32":

    @contextmanager
    def _locked(folder: Path) -> Iterator[None]:
        """Do nothing for a folder just made; whether another is in use cannot be known here.

        Raises:
            OSError: there are files in it.
        """
        if any(folder.iterdir()):
            raise PermissionError
        yield

else:
    import fcntl

    @contextmanager
    def _locked(folder: Path) -> Iterator[None]:
        """Lock the folder meanwhile.

        Raises:
            OSError: another process has locked it, it is no folder or gone, or not this user's.
        """
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)  # closed in every child (PEP 446)
        try:
            if os.fstat(descriptor).st_uid != os.geteuid():
                raise PermissionError
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(descriptor), folder.lstat()):
                raise FileNotFoundError
            yield
        finally:
            os.close(descriptor)
