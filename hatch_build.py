"""Compiles wallsplit's native core where there is a C compiler; without one the wheel is pure Python, and slower.

The core is loaded by ctypes and knows nothing of Python: a wheel with it is for one platform, but for every Python.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "analysis/wallsplit/native"
FLAGS = ("-O2", "-std=gnu11", "-shared", "-fPIC", "-fvisibility=hidden")


class NativeCore(BuildHookInterface[Any]):
    """The build hook; hatchling finds it by this file's name."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the core, or leave it out."""
        library = Path(self.root, FOLDER, "_wallsplit.so")
        why_not = compiled(Path(self.root, FOLDER, "wallsplit.c"), library)
        if why_not:
            library.unlink(missing_ok=True)
            self.app.display_warning(f"wallsplit without its native core, analyses take longer: {why_not}")
            return
        build_data["artifacts"].append(f"/{FOLDER}/_wallsplit.so")
        if version != "editable":
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def compiled(source: Path, library: Path) -> str | None:
    """Compile the core; return None, or why there is none."""
    command = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if os.environ.get("WALLSPLIT_NATIVE") == "0":
        return "WALLSPLIT_NATIVE=0"
    if sys.platform == "win32":
        return "Windows has no pread"
    program = shutil.which(command[0]) or shutil.which("cc")
    if program is None:
        return f"no C compiler ({command[0]}) was found"
    made = library.with_suffix(".new")  # moved into place: a program that runs keeps the one it has loaded
    argv = [program, *command[1:], *FLAGS, "-o", str(made), str(source), "-lm"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        made.unlink(missing_ok=True)
        return f"{program}: {' '.join(done.stderr.split())[:300] or done.returncode}"
    made.replace(library)
    return None
