"""Recording programs for real in tests: `wallsplit profile` as a person runs it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

NAME = "x"


def profile(folder: Path, real_nsys: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Return how `wallsplit profile` ended; its files are in the folder, by NAME."""
    return subprocess.run(command(folder, real_nsys, *arguments), env=environment(), capture_output=True, text=True)


def command(folder: Path, real_nsys: Path, *arguments: str) -> Sequence[str]:
    """Return the command line of `wallsplit profile`, at most two minutes long unless the arguments say otherwise."""
    options = ("--nsys", str(real_nsys), "--output-dir", str(folder), "--timeout", "120", "--name", NAME)
    return (sys.executable, "-m", "wallsplit_scripts", "profile", *options, *arguments)


def environment() -> dict[str, str]:
    """Return this environment, in which processes find this checkout's packages, installed or not."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
