"""Virtual environments for tests: folders with what a look from outside finds, and a Python that only pretends."""

from pathlib import Path

FAKE_PYTHON = """#!/bin/sh
# A python that makes environments and "installs" extras: a line each in installed.txt; TensorFlow's two distributions
# overwrite each other's files, so that with both nothing of it works any more.
if [ "$1 $2" = "-m venv" ]; then
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    exit 0
fi
folder=$(dirname "$0")/..
for last; do :; done
extra=${last#.[}
extra=${extra%]}
echo "$extra" >>"$folder/installed.txt"
"""


def fake_python(folder: Path) -> Path:
    """Return a program that stands for python3."""
    path = folder / "python3"
    path.write_text(FAKE_PYTHON)
    path.chmod(0o755)
    return path


def installed(venv: Path) -> list[str]:
    """Return the extras that were installed into a pretended environment, in order."""
    file = venv / "installed.txt"
    return file.read_text().split() if file.exists() else []


def venv(folder: Path, *distributions: str, modules: tuple[str, ...] = (), version: str = "3.11.9") -> Path:
    """Return a folder that looks like a virtual environment with these distributions, as "name 1.0", and modules."""
    packages = folder / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").touch(mode=0o755)
    (folder / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
    for distribution in distributions:
        name, number = distribution.split()
        info = packages / f"{name.replace('-', '_')}-{number}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n")
    for module in modules:
        (packages / module).mkdir()
        (packages / module / "__init__.py").touch()
    return folder


def torch_version(venv: Path, cuda: str) -> None:
    """Write the file by which PyTorch tells the CUDA it was built for."""
    folder = venv / "lib" / "python3.11" / "site-packages" / "torch"
    folder.mkdir(exist_ok=True)
    (folder / "version.py").write_text(f"__version__ = '2.13.0'\ncuda: Optional[str] = {cuda}\n")
