"""Virtual environments for tests: folders with what a look from outside finds, and a Python that only pretends."""

from pathlib import Path

FAKE_PYTHON = """#!/bin/sh
# A python that makes environments and "installs" extras: a line each in installed.txt, and a folder that looks like the
# framework. Whatever else it is to run stands in ran.txt, and fails as the driver of a GPU that is not there.
folder=$(dirname "$0")/..
case "$1 $2" in
"-m venv")
    mkdir -p "$3/bin" "$3/lib/python3.11/site-packages"
    echo "version = 3.11.9" >"$3/pyvenv.cfg"
    cp "$0" "$3/bin/python"
    ;;
"-m pip")
    for last; do :; done
    extra=${last#.[}
    extra=${extra%]}
    echo "$extra" >>"$folder/installed.txt"
    for module in "${extra%%-*}" sklearn; do
        mkdir -p "$folder/lib/python3.11/site-packages/$module"
        touch "$folder/lib/python3.11/site-packages/$module/__init__.py"
    done
    ;;
"-I -S") ;;
*)
    echo "$*" >>"$folder/ran.txt"
    echo "error: the driver: no CUDA-capable device is detected"
    exit 2
    ;;
esac
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


def ran(venv: Path) -> str:
    """Return the command lines that a pretended Python was to run."""
    file = venv / "ran.txt"
    return file.read_text() if file.exists() else ""


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
