"""Files on disk: all or nothing, and never over what is not ours."""

import os
from pathlib import Path

import pytest

from wallsplit.aside import SUFFIX
from wallsplit.errors import ReportError
from wallsplit.report.writing import File, write

OURS = File("a.html", b"<mark> new\n", b"<mark>")
SECOND = File("b.md", b"<mark> second\n", b"<mark>")


def test_files_are_written_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "reports"
    assert write([OURS, SECOND], folder) == (folder / "a.html", folder / "b.md")
    assert sorted(path.name for path in folder.iterdir()) == ["a.html", "b.md"]
    assert (folder / "a.html").read_bytes() == b"<mark> new\n"


def test_a_report_of_ours_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"old <mark> report")
    write([OURS], tmp_path)
    assert (tmp_path / "a.html").read_bytes() == OURS.content


def test_a_mark_at_the_end_counts_too(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"x" * 1_000_000 + b"<mark>")
    write([OURS], tmp_path)
    assert (tmp_path / "a.html").read_bytes() == OURS.content


def test_a_file_of_someone_else_stops_everything(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("my thesis")
    with pytest.raises(ReportError, match=r"b\.md: exists and was not written by wallsplit; .*--force"):
        write([OURS, SECOND], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["b.md"]
    assert (tmp_path / "b.md").read_text() == "my thesis"


def test_force_replaces_a_file_of_someone_else(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("my thesis")
    write([OURS], tmp_path, force=True)
    assert (tmp_path / "a.html").read_bytes() == OURS.content


@pytest.mark.parametrize("target", [b"<mark> ours", None])
def test_a_link_is_never_followed(tmp_path: Path, target: bytes | None) -> None:
    elsewhere = tmp_path / "elsewhere.txt"
    if target is not None:
        elsewhere.write_bytes(target)
    reports = tmp_path / "reports"
    reports.mkdir()
    (reports / "a.html").symlink_to(elsewhere)
    with pytest.raises(ReportError, match="is a symbolic link"):
        write([OURS], reports)
    write([OURS], reports, force=True)
    assert not (reports / "a.html").is_symlink()
    assert (elsewhere.read_bytes() if elsewhere.exists() else None) == target


def test_a_folder_in_the_way_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.html").mkdir()
    with pytest.raises(ReportError, match="is a folder"):
        write([OURS], tmp_path, force=True)


def test_a_report_folder_that_is_a_file_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file")
    with pytest.raises(ReportError) as caught:
        write([OURS], tmp_path / "reports")
    assert "\n" not in str(caught.value)
    assert "choose another folder" in str(caught.value)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ReportError, match="cannot write"):
        write([OURS], tmp_path)


def test_a_failure_half_way_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.html").write_bytes(b"<mark> old")
    opened = Path.open

    def full(path: Path, mode: str = "r", *rest: object) -> object:
        if "b.md" in path.name and "x" in mode:
            raise OSError(28, "No space left on device")
        return opened(path, mode, *rest)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ReportError, match="No space left on device"):
        write([OURS, SECOND], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
    assert (tmp_path / "a.html").read_bytes() == b"<mark> old"


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(143)])
def test_an_interrupt_half_way_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: BaseException
) -> None:
    def interrupted(path: Path, content: bytes) -> None:
        path.write_bytes(content[:3])
        raise end

    monkeypatch.setattr("wallsplit.report.writing._write_new", interrupted)
    with pytest.raises(type(end)):
        write([OURS, SECOND], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="without locks nothing is taken for a left-over")
def test_what_a_killed_run_left_is_cleared_by_the_next_one_into_that_folder(tmp_path: Path) -> None:
    left = tmp_path / f".wallsplit.abc{SUFFIX}"
    left.mkdir()
    (left / "a.html").write_text("half")
    write([OURS], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_control_characters_of_a_folder_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "\x1b[2J").write_text("a file")
    with pytest.raises(ReportError) as caught:
        write([OURS], tmp_path / "\x1b[2J")
    assert "\x1b" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_the_place_of_a_report_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.html")
    with pytest.raises(ReportError, match="was not written by wallsplit"):
        write([OURS], tmp_path)
