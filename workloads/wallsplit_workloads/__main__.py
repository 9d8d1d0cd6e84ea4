"""`python -m wallsplit_workloads NAME …`: one run of one workload, its manifest written; what nsys profiles."""

import argparse
import sys
from pathlib import Path

from wallsplit.aside import private_folder
from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import to_json
from wallsplit_workloads import WORKLOADS, running
from wallsplit_workloads.workload import UnsupportedError, find, resolve

REFUSED = 2  # argparse's own code for wrong usage: nothing ran that would be worth a trace
UNSUPPORTED = 3  # this device cannot do it: no failure of a study that tries all
_SHORTCUTS = ("batch", "epochs", "steps", "seed", "data")


def main(arguments: list[str] | None = None) -> int:
    """Return the exit code: 0 done, 1 its manifest cannot be written, REFUSED or UNSUPPORTED it cannot run as asked."""
    given = parser().parse_args(arguments)
    code = REFUSED
    try:
        workload = find(WORKLOADS, given.name)
        texts = {name: getattr(given, name) for name in _SHORTCUTS if getattr(given, name) is not None}
        texts.update(setting(text) for text in given.set)
        manifest = running.run(workload, resolve(workload, texts), say)
        code = 1
        if given.result:
            write(given.result, to_json(manifest))
    except WallsplitError as error:
        sys.stderr.write(f"error: {error}\n")
        return UNSUPPORTED if isinstance(error, UnsupportedError) else code
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar; values stay text until the workload's parameters parse them."""
    grammar = argparse.ArgumentParser(prog="python -m wallsplit_workloads", description=__doc__)
    grammar.add_argument("name", help=f"one of {', '.join(workload.name for workload in WORKLOADS)}")
    for name in _SHORTCUTS:
        grammar.add_argument(f"--{name}", metavar="VALUE", help=f"short for --set {name}=VALUE")
    grammar.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the workload")
    grammar.add_argument("--result", type=Path, metavar="PATH", help="where the run manifest goes")
    return grammar


def setting(text: str) -> tuple[str, str]:
    """Return the two sides of KEY=VALUE.

    Raises:
        WallsplitError: there is no "=".
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise WallsplitError(f"--set {text}: not of the form key=value")
    return key.replace("-", "_"), value


def say(line: str) -> None:
    """Print the line at once: whoever waits for the run wants to see it move."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write(path: Path, text: str) -> None:
    """Write beside the path, then rename, so that no half a manifest is ever found there.

    Raises:
        WallsplitError: the folder cannot be written to.
    """
    try:
        with private_folder(path.parent, path.name) as aside:
            made = aside / path.name
            made.write_text(text, encoding="utf-8")
            made.replace(path)
    except OSError as error:
        raise WallsplitError(f"{path}: the manifest cannot be written ({error.strerror})") from error


if __name__ == "__main__":
    sys.exit(main())
