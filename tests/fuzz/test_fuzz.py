"""What `analyze` makes of 500 attacks, and that the attacks are such."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from fuzz.judging import Ran, judged
from fuzz.kinds import KINDS
from fuzz.pages import compared
from fuzz.programs import columns_of, program, write_sqlite
from wallsplit.trace.raw import TABLES

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")
@pytest.mark.timeout(3_000)  # a quarter of a second a case, on a machine that does nothing else
def test_damaged_and_absurd_input_is_analysed_or_refused_in_one_line() -> None:
    """In a process of its own: threads of Polars do not survive the fork of this one."""
    sources = [str(TESTS), *(str(TESTS.parent / root) for root in ("analysis", "workloads", "scripts"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}
    command = [sys.executable, "-m", "fuzz", "--cases", "500"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-5_000:] + ran.stderr[-2_000:]
    assert all(kind.__name__ in ran.stdout for kind in KINDS)


def test_a_sound_program_has_rows_in_every_table_and_every_column_that_is_read() -> None:
    tables = program(Random(1))
    assert {table.name for table in TABLES} == set(tables)
    assert all(set(table.columns) <= set(columns_of(tables[table.name])) for table in TABLES)


def test_a_sound_file_is_read_as_sqlite3_reads_it(tmp_path: Path) -> None:
    write_sqlite(tmp_path / "t.sqlite", program(Random(2)))
    assert compared(tmp_path / "t.sqlite") == []


@pytest.mark.parametrize("make", dict.fromkeys(KINDS), ids=lambda make: make.__name__)
def test_a_case_is_made_again_from_its_number(make: object, tmp_path: Path) -> None:
    assert callable(make)
    notes = []
    for name in ("once", "again"):
        (tmp_path / name).mkdir()
        notes.append(make(tmp_path / name, Random(3)).note)
    assert notes[0] == notes[1]


LEDGER = '{"traces": [{"ledgers": [{"accounts": {"host": %d}, "wall_ns": 5, "residual_ns": 0, "busy_ratio": %s, '
LEDGER += '"kernel_active_ratio": 0, "api_coverage": null, "launch_coverage": 1, "api_exposure": {}}]}]}'


@pytest.mark.parametrize(
    ("ran", "bad"),
    [
        (Ran(0, "said", ""), []),
        (Ran(1, "", "wallsplit: t.sqlite: is no trace\n"), []),
        (Ran(2, "", "Usage: analyze\n"), []),
        (Ran(0, LEDGER % (5, "0.5"), ""), []),
        (Ran(1, "", "Traceback (most recent call last):\n  x"), ["traceback"]),
        (Ran(1, "", "thread 'main' panicked at x.rs"), ["traceback"]),
        (Ran(-11, "", ""), ["exit code -11"]),
        (Ran(1, "", ""), ["no line for each failure"]),
        (Ran(1, "", "oh\n"), ["no line for each failure"]),
        (Ran(0, "", "RuntimeWarning: x\n"), ["a success that says"]),
        (Ran(1, "", f"wallsplit: {'x' * 5_000}\n"), ["a message of"]),
        (Ran(0, "a\x1b[31m", ""), ["'\\x1b' on the terminal"]),
        (Ran(0, LEDGER % (4, "0.5"), ""), ["a ledger that does not sum"]),
        (Ran(0, LEDGER % (5, "1.5"), ""), ["busy_ratio is 1.5"]),
        (Ran(0, LEDGER % (5, "NaN"), ""), ["no JSON"]),
        (Ran(0, "", "", {"t.html": b"<p onclick=x>"}), ["t.html holds p onclick"]),
        (Ran(0, "", "", {"t.html": b"<a href=https://ui.perfetto.dev>x</a>"}), []),
        (Ran(0, "", "", {"t.html": b"<a href=https://ui.perfetto.dev.x>x</a>"}), ["t.html holds a href"]),
        (Ran(0, "", "", {"t.html": b"<img src=https://ui.perfetto.dev>"}), ["t.html holds img src"]),
        (Ran(0, "", "", {"t.svg": b"<svg>"}), ["t.svg is no XML"]),
        (Ran(0, "", "", {"t.csv": b'a\n"\'=1"\n\x00'}), ["'\\x00' in t.csv"]),
        (Ran(0, "", "", {"t.csv": b"a\n =1\n"}), ["t.csv holds a formula"]),
    ],
)
def test_a_judge_tells_what_is_wrong(ran: Ran, bad: list[str]) -> None:
    found = judged(ran)
    assert len(found) == len(bad)
    assert all(told.startswith(expected) for told, expected in zip(found, bad, strict=True))
