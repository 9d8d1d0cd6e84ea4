"""Measure speed and memory.

python -m bench [QUESTION …] [--trace BIG.sqlite] [--markdown]

Without a trace, the committed sample is repeated to a million rows. Every reading is a process of its own. Contenders
take turns; ratios are those of one round, and their median is shown with the least and the greatest. It wants an idle
machine.
"""

import argparse
import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import growth, projection, reader, report, slices, startup, unique, verdicts, why
from bench.measure import ROOT, run_python
from bench.options import Options
from bench.table import Table, markdown, text
from bench.tile import tile

QUESTIONS: dict[str, Callable[[Options], Table]] = {
    "startup": startup.run,
    "report": report.run,
    "projection": projection.run,
    "reader": reader.run,
    "unique": unique.run,
    "growth": growth.run,
    "why": why.run,
    "slices": slices.run,
    "verdicts": verdicts.run,
}
SAMPLE = ROOT / "traces" / "keras-gpu.reconstructed.sqlite"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help=f"of {', '.join(QUESTIONS)}; default: all")
    parser.add_argument("--trace", type=Path, help="a large export for report, projection and unique")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the trace made where none is given")
    parser.add_argument("--most-rows", type=int, default=10_000_000, help="where growth ends")
    parser.add_argument("--rounds", type=int, default=5, help="in which contenders take turns")
    parser.add_argument(
        "--slow-rounds", type=int, default=1, help="those of programs that take minutes: the first ones"
    )
    parser.add_argument("--markdown", action="store_true", help="as docs/performance.md has it; also write its figure")
    given = parser.parse_args()
    unknown = set(given.questions) - set(QUESTIONS)
    if unknown:
        parser.error(f"no such question: {', '.join(sorted(unknown))}")
    if min(given.rounds, given.slow_rounds) < 1:
        parser.error("there is no median of no round")
    show = markdown if given.markdown else text
    print(f"{_machine()}\npython -m bench {shlex.join(sys.argv[1:])}\n")
    with tempfile.TemporaryDirectory(prefix="wallsplit-bench-") as name:
        folder = Path(name)
        trace = given.trace.resolve() if given.trace else folder / "trace.sqlite"
        if not given.trace:
            tile(SAMPLE, trace, given.rows)
        options = Options(trace, SAMPLE, folder, given.rounds, given.slow_rounds, given.most_rows, given.markdown)
        for question, run in QUESTIONS.items():
            if question in (given.questions or QUESTIONS):
                print(show(run(options)), end="\n\n", flush=True)


def _machine() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
    which = "from wallsplit import native; print(native.name())"
    core = run_python("-c", which).strip()  # what is imported here would count in every reading
    return f"{os.cpu_count()} cores ({model}), {platform.system()}, Python {platform.python_version()}, core: {core}"


if __name__ == "__main__":
    main()
