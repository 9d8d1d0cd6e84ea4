"""Nothing that happens to lie in the current folder runs: it may be a downloaded trace's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wallsplit
import wallsplit_scripts
import wallsplit_workloads
from builders import TraceBuilder
from fake_nsys import fake_nsys
from wallsplit_scripts import children
from workload_runs import small_set

PLANTED = "import pathlib; pathlib.Path(__file__).with_name('ran').touch(); raise SystemExit(99)\n"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds the packages as an installation does, without a checkout around them."""
    folder = tmp_path_factory.mktemp("site-packages")
    for package in (wallsplit, wallsplit_workloads, wallsplit_scripts):
        (source,) = package.__path__
        shutil.copytree(source, folder / package.__name__, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "wallsplit-script.py").write_text(
        "from wallsplit_scripts.main import main\nif __name__ == '__main__': main()"
    )
    return folder


def run(installed: Path, folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `wallsplit` as a console script would, in the folder; no nsys but one that lies there can be found."""
    return subprocess.run(
        [sys.executable, installed / "wallsplit-script.py", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin", "WALLSPLIT_NSYS": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("arguments", [("doctor",), ("analyze", "x.nsys-rep"), ("profile", "--", "true")])
def test_an_nsys_in_the_current_folder_is_never_run_by_an_installed_wallsplit(
    installed: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "x.nsys-rep").write_text("a report")
    own = tmp_path / ".nsys" / "usr" / "bin"
    own.mkdir(parents=True)
    fake_nsys(own, version_body=f"pathlib.Path({str(tmp_path / 'ran')!r}).touch(); sys.exit()")
    done = run(installed, tmp_path, *arguments)
    assert not (tmp_path / "ran").exists()
    assert "no nsys found" in done.stdout + done.stderr


def test_a_workload_imports_nothing_from_the_current_folder(installed: Path, tmp_path: Path) -> None:
    data, folder = small_set(tmp_path, 200), tmp_path / "here"
    folder.mkdir()
    (folder / "numpy.py").write_text(PLANTED)
    settings = ("--epochs", "1", "--batch", "160", "--data", str(data), "--baseline-runs", "1")
    done = run(installed, folder, "profile", "--nsys", str(fake_nsys(tmp_path)), "numpy", *settings)
    assert not (folder / "ran").exists()
    assert done.returncode == 0, done.stderr


def test_workers_import_nothing_from_the_current_folder(installed: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        TraceBuilder(tmp_path / f"{name}.sqlite").api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 90, corr=1).write()
    (tmp_path / "multiprocessing.py").write_text(PLANTED)
    done = run(installed, tmp_path, "analyze", "a.sqlite", "b.sqlite", "--jobs", "2", "--no-report")
    assert not (tmp_path / "ran").exists()
    assert done.returncode == 0, done.stderr


def test_a_child_searches_no_folder_that_is_not_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    paths = children.environment({"PYTHONPATH": os.pathsep.join(["", "lib", "/opt/lib", ""]), "A": "b"})
    assert paths == {"PYTHONPATH": os.pathsep.join([str(tmp_path / "lib"), "/opt/lib"]), "A": "b"}
    assert children.environment({"PYTHONPATH": ""}) == {}
