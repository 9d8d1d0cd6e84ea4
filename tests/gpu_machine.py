"""`wallsplit` on a machine that has a GPU as far as it can tell: `python -m gpu_machine CLONE profile keras-gpu …`.

CLONE is a folder that stands for the checkout: what runs is its .venv's Python, or that of a framework's own .venv-….
"""

import sys
from pathlib import Path


def main(clone: Path, arguments: list[str]) -> None:
    """Run the command line."""
    sys.executable = str(clone / ".venv" / "bin" / "python")  # before anything remembers another

    from fake_nvml import FakeNvml
    from wallsplit.run.manifest import Gpu
    from wallsplit_scripts import main as command_line
    from wallsplit_scripts import nsys, nvml
    from wallsplit_workloads import machine

    machine.gpu_lack = lambda: None
    machine.gpu = lambda nvml=None: Gpu("A GPU", 48, 64, 1_815_000_000, 16 * 2**30)
    machine.driver = lambda nvml=None: "550.54.14"
    nsys.checkout = lambda: clone
    nvml.load = FakeNvml
    sys.argv = ["wallsplit", *arguments]
    command_line.main()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
