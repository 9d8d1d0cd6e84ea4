import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "get_nsys.sh"


def run(*arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": path or os.environ["PATH"]}
    return subprocess.run(["/bin/sh", SCRIPT, *arguments], env=environment, capture_output=True, text=True)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a PATH with little on it: no apt-get."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("dirname", "timeout", "grep"):
        (folder / tool).symlink_to(f"/usr/bin/{tool}")
    return folder


def test_elsewhere_than_on_debian_one_sentence_says_where_to_get_it(tmp_path: Path, tools: Path) -> None:
    done = run(str(tmp_path / "nsys"), path=str(tools))
    assert done.returncode == 1
    assert done.stderr.startswith("get_nsys: this is no Debian")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "nsys").exists()


def test_an_nsys_that_is_already_there_is_left_alone(tmp_path: Path, tools: Path) -> None:
    nsys = tmp_path / "usr" / "bin" / "nsys"
    nsys.parent.mkdir(parents=True)
    nsys.write_text("#!/bin/sh\necho NVIDIA Nsight Systems version 2023.4.4.54-1v0\n")
    nsys.chmod(0o755)
    done = run(str(tmp_path), path=str(tools))
    assert (done.returncode, done.stdout) == (0, f"get_nsys: {nsys} is already there\n")


def test_the_script_names_no_package_mirror() -> None:
    assert "://" not in SCRIPT.read_text()
