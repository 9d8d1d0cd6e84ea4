"""Absurd options before a sound trace."""

from pathlib import Path
from random import Random

from fuzz.cases import Case
from fuzz.programs import program, write_sqlite

WINDOWS = (
    *("", ":", "1s", "1s:", ":1s", "nvtx:", "CUDA", "steady", "0ns:1s", "1ns:2ns", "5ns:1ns", "-1s:1s", "1ns:1ns"),
    *("0ns:9223372036s", "0s:1e9s", "nan:nan", "infs:infs", "0.0000000001ns:1ns", "0ns:0.5ns", "0ns:1_0ns", "1s:2s:3s"),
    *("0ns:99999999999999999999999999999min", "٣ns:٤٠ns", "0 ns : 3 us", "0µs:3µs", "0ns:" + "9" * 5_000 + "ns"),
    *("nvtx:<script>alert(1)</script>", "nvtx:\x1b[31mred\x1b]0;t\x07", "nvtx:" + "x" * 100_000, "nvtx:\udcff"),
)
NUMBERS = (
    "0",
    "1",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e29",
    "1e400",
    "2.2e10",
    "",
    "x",
    "１２",
    "1_0",
    str(2**63),
    str(10**40),
)
PATHS = ("", ".", "/dev/null", "nowhere.toml", "rules.toml", "../../x", "a\x00b"[:1], "x" * 5_000, "trace.sqlite")
RULES = (
    "",
    "data = 1",
    "data = ['(']",
    "[[rule]]\nclass = 1",
    "x" * 10_000,
    "\0",
    "[" * 5_000,
    'data = ["' + "(a+)+" * 9 + '"]',
)
VALUES = {
    "--window": WINDOWS,
    "--flops": NUMBERS,
    "--peak-tflops": NUMBERS,
    "--top": NUMBERS,
    "--jobs": ("0", "1", "-1", "x", str(2**70)),
    "--phases": PATHS,
    "--classes": PATHS,
    "--report-dir": ("reports", "/dev/null", "trace.sqlite", "/proc/none", "x" * 300),
    "--tables": ("tables", "/dev/null", "trace.sqlite"),
    "--format": ("csv", "parquet", "xml", ""),
    "--nsys": PATHS,
}
FLAGS = ("--json", "--no-report", "--force", "--nothing", "--", "-", "--help")


def absurd_options(folder: Path, rng: Random) -> Case:
    """Return a sound trace and absurd options."""
    write_sqlite(folder / "trace.sqlite", program(rng))
    (folder / "rules.toml").write_text(rng.choice(RULES))
    arguments: list[str] = []
    for name in rng.sample(list(VALUES), rng.choice((1, 1, 2, 3))):
        value = rng.choice(VALUES[name])
        arguments += rng.choice(([name, value], [f"{name}={value}"]))
    arguments += rng.sample(FLAGS, rng.choice((0, 0, 0, 1)))
    traces = rng.choice(
        (["trace.sqlite"], ["trace.sqlite"], ["trace.sqlite"] * 2, ["nowhere"], ["."], ["rules.toml"], [])
    )
    arguments += traces
    return Case(tuple(arguments), " ".join(arguments)[:200])
