import os
import stat
import sys
from pathlib import Path

import pytest

from fake_nsys import fake_nsys
from processes import wait_until
from wallsplit.errors import CaptureError
from wallsplit.run.manifest import sha256
from wallsplit_scripts.cache import cache_folder, cached_export

# Every export is logged, so that a test sees how many there were.
EXPORT = (
    "open(os.path.dirname(report) + '/log', 'a').write('x'); pathlib.Path(output).write_bytes(b'SQLite format 3\\0')"
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "wallsplit" / "exports"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "x.nsys-rep"
    path.write_text("a report")
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the platform has its own rules")
@pytest.mark.parametrize(
    ("chosen", "folder"),
    [
        ("", ".cache/wallsplit/exports"),
        ("/fast", "/fast/wallsplit/exports"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(
    chosen: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", chosen)
    assert cache_folder() == tmp_path / folder


def test_a_report_is_exported_once_while_it_does_not_change(tmp_path: Path, cache: Path, report: Path) -> None:
    nsys = str(fake_nsys(tmp_path, export_body=EXPORT))
    first = cached_export(report, nsys)
    assert cached_export(report, nsys) == first
    assert first.parent == cache
    assert (tmp_path / "log").read_text() == "x"
    report.write_text("another report")
    assert cached_export(report, nsys) != first
    assert (tmp_path / "log").read_text() == "xx"


def test_another_nsys_exports_again(tmp_path: Path, cache: Path, report: Path) -> None:
    first = cached_export(report, str(fake_nsys(tmp_path, export_body=EXPORT)))
    assert cached_export(report, str(fake_nsys(tmp_path, export_body=EXPORT, version="2025.1.3"))) != first


def test_exports_are_open_to_their_owner_alone(tmp_path: Path, cache: Path, report: Path) -> None:
    cache.mkdir(parents=True, mode=0o755)
    made = cached_export(report, str(fake_nsys(tmp_path)))
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(made.stat().st_mode) == 0o600


def test_nothing_is_written_beside_the_report(tmp_path: Path, cache: Path, report: Path) -> None:
    before = report.stat()
    nsys = fake_nsys(tmp_path)
    here = set(tmp_path.iterdir())
    cached_export(report, str(nsys))
    assert set(tmp_path.iterdir()) - here == {tmp_path / "cache"}
    assert report.stat().st_mtime_ns == before.st_mtime_ns


def test_without_nsys_one_sentence_tells_how_to_export(cache: Path, report: Path) -> None:
    with pytest.raises(
        CaptureError, match=r"an nsys report, not an export, .*`nsys export --type=sqlite 'x.nsys-rep'`"
    ):
        cached_export(report, "/nonexistent/nsys")
    assert not cache.exists()


def test_a_missing_report_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="cannot be read"):
        cached_export(tmp_path / "gone.nsys-rep")


def test_a_cache_that_cannot_be_made_is_one_line(tmp_path: Path, report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(CaptureError, match="the cache folder cannot be made"):
        cached_export(report, str(fake_nsys(tmp_path)))


@pytest.fixture
def nsys(tmp_path: Path) -> str:
    return str(fake_nsys(tmp_path, export_body=EXPORT))


def exports(tmp_path: Path) -> int:
    return len((tmp_path / "log").read_text())


@pytest.mark.parametrize("damage", [b"", b"SQLite format 3\0 and more", b"SQLite format 4\0"])
def test_an_entry_that_is_not_what_was_made_is_made_anew(
    tmp_path: Path, cache: Path, report: Path, nsys: str, damage: bytes
) -> None:
    entry = cached_export(report, nsys)
    entry.write_bytes(damage)
    assert cached_export(report, nsys) == entry
    assert entry.read_bytes() == b"SQLite format 3\0"
    assert exports(tmp_path) == 2
    cached_export(report, nsys)
    assert exports(tmp_path) == 2


def test_an_entry_without_its_seal_is_made_anew(tmp_path: Path, cache: Path, report: Path, nsys: str) -> None:
    entry = cached_export(report, nsys)
    entry.with_suffix(".sha256").unlink()
    cached_export(report, nsys)
    assert exports(tmp_path) == 2


def test_an_entry_that_others_may_write_to_is_made_anew(tmp_path: Path, cache: Path, report: Path, nsys: str) -> None:
    entry = cached_export(report, nsys)
    entry.chmod(0o666)
    cached_export(report, nsys)
    assert exports(tmp_path) == 2
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give a file away")
def test_an_entry_of_another_user_is_made_anew(tmp_path: Path, cache: Path, report: Path, nsys: str) -> None:
    entry = cached_export(report, nsys)
    os.chown(entry, 12345, 12345)
    assert cached_export(report, nsys) == entry
    assert exports(tmp_path) == 2
    assert entry.stat().st_uid == os.geteuid()


def test_a_link_in_the_place_of_an_entry_is_replaced_and_not_followed(
    tmp_path: Path, cache: Path, report: Path, nsys: str
) -> None:
    entry = cached_export(report, nsys)
    elsewhere = tmp_path / "elsewhere"
    entry.rename(elsewhere)
    entry.symlink_to(elsewhere)
    cached_export(report, nsys)
    assert not entry.is_symlink()
    assert exports(tmp_path) == 2


@pytest.mark.parametrize("linked", ["wallsplit", "wallsplit/exports"])
def test_a_cache_folder_that_is_a_link_is_refused(
    tmp_path: Path, cache: Path, report: Path, nsys: str, linked: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    link = tmp_path / "cache" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    with pytest.raises(CaptureError, match=r"is a symbolic link, and exports would be kept there; set XDG_CACHE_HOME"):
        cached_export(report, nsys)
    assert list(elsewhere.iterdir()) == []
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o755


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_cache_folder_of_another_user_is_refused_and_left_as_it_is(
    tmp_path: Path, cache: Path, report: Path, nsys: str
) -> None:
    cache.mkdir(parents=True, mode=0o777)
    cache.chmod(0o777)
    os.chown(cache, 12345, 12345)
    with pytest.raises(CaptureError, match="is another user's"):
        cached_export(report, nsys)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o777


def test_a_report_that_changes_while_it_is_exported_is_not_kept_under_either_name(
    tmp_path: Path, cache: Path, report: Path
) -> None:
    growing = fake_nsys(tmp_path, export_body=f"open(report, 'a').write('more'); {EXPORT}")
    with pytest.raises(CaptureError, match="changed while it was exported"):
        cached_export(report, str(growing))
    assert list(cache.iterdir()) == []


def test_a_report_is_read_while_it_is_exported_and_not_before(
    tmp_path: Path, cache: Path, report: Path, nsys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reading(path: Path) -> str:
        if path == report:
            wait_until((tmp_path / "log").exists)  # the export has begun
        return sha256(path)

    monkeypatch.setattr("wallsplit_scripts.cache.sha256", reading)
    assert sha256(report) in cached_export(report, nsys).name
