import stat
import sys
from pathlib import Path

import pytest

from fake_nsys import fake_nsys
from wallsplit.errors import CaptureError
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
