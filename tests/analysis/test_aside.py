"""Private folders: gone at the end, never in each other's way, cleared after a kill."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from processes import wait_until
from wallsplit.aside import SUFFIX, only_folder, private_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="without locks nothing is taken for a left-over")

HOLD = """
import pathlib, sys, time
from wallsplit.aside import only_folder
with only_folder(pathlib.Path(sys.argv[1]), "x") as folder:
    (folder / "half").write_text("half")
    time.sleep(600)
"""


def holding(parent: Path) -> "subprocess.Popen[bytes]":
    """Return a process that holds the folder x and has begun a file in it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", HOLD, parent], env=environment)
    wait_until((parent / f".x{SUFFIX}" / "half").is_file)
    return process


def test_a_folder_is_open_to_its_owner_alone_and_gone_at_the_end(tmp_path: Path) -> None:
    with private_folder(tmp_path, "x") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "file").write_text("")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(143), OSError(28, "No space left on device")])
def test_it_is_gone_whatever_ends_the_work(tmp_path: Path, end: BaseException) -> None:
    with pytest.raises(type(end)), private_folder(tmp_path, "x") as folder:
        (folder / "file").write_text("")
        raise end
    assert list(tmp_path.iterdir()) == []


def test_two_private_folders_are_not_in_each_others_way(tmp_path: Path) -> None:
    with private_folder(tmp_path, "x") as first, private_folder(tmp_path, "x") as second:
        assert first != second
        assert first.is_dir()


def test_the_only_folder_is_refused_while_another_process_holds_it(tmp_path: Path) -> None:
    holder = holding(tmp_path)
    try:
        with pytest.raises(BlockingIOError), only_folder(tmp_path, "x"):
            pass
        with only_folder(tmp_path, "y"):
            assert (tmp_path / f".x{SUFFIX}" / "half").is_file()
    finally:
        holder.terminate()
        holder.wait()


def test_where_the_file_system_has_no_locks_the_only_folder_is_refused_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with only_folder(tmp_path, "x") as folder:
        with pytest.raises(BlockingIOError), only_folder(tmp_path, "x"):
            pass
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_cleared_by_the_next_folder(tmp_path: Path) -> None:
    holder = holding(tmp_path)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / f".x{SUFFIX}" / "half").is_file()
    with private_folder(tmp_path, "y") as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_what_is_no_folder_of_ours_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "theirs"
    target.mkdir()
    (target / "file").write_text("")
    (tmp_path / f".link{SUFFIX}").symlink_to(target)
    (tmp_path / f".file{SUFFIX}").write_text("")
    with private_folder(tmp_path, "x"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".file{SUFFIX}", f".link{SUFFIX}", "theirs"]
    assert (target / "file").is_file()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_what_another_user_left_is_left_to_them(tmp_path: Path) -> None:
    theirs = tmp_path / f".x{SUFFIX}"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    with private_folder(tmp_path, "y"):
        pass
    assert theirs.is_dir()
