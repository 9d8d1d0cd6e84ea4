"""Attack `analyze` with damaged files, absurd values and absurd options: `python -m fuzz --help`."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"  # before Polars is imported: threads do not survive a fork


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 where every case ended as it should; a line is printed for each that did not."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=500, help="how many")
    parser.add_argument("--start", type=int, default=0, help="the first one's number")
    parser.add_argument("--kind", help="only cases of this kind, e.g. damaged_folder")
    parser.add_argument("--case", type=int, metavar="N", help="make one case again and tell what it does")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="with --case: leave its files there")
    asked = parser.parse_args(arguments)
    from fuzz.batches import kind, outcomes

    numbers = range(asked.start, asked.start + asked.cases) if asked.case is None else [asked.case]
    numbers = [number for number in numbers if asked.kind in (None, kind(number))]
    classes: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes(numbers, asked.keep):
        ended = "BAD" if outcome.bad else "read" if outcome.code is None else f"exit {outcome.code}"
        classes[outcome.kind, ended] += 1
        if outcome.bad or asked.case is not None:
            _say(f"case {outcome.number} ({outcome.kind}: {outcome.note}) {ended}")
            for line in (*outcome.bad, outcome.said):
                _say(f"    {line}")
    for (name, ended), count in sorted(classes.items()):
        _say(f"{name:24} {ended:8} {count:8}")
    return 1 if any(ended == "BAD" for _, ended in classes) else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
