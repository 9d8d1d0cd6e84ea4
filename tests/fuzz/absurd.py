"""Sound files with absurd content: extreme numbers, hostile names, other types, absent columns and tables."""

import sqlite3
from pathlib import Path
from random import Random

from fuzz.cases import Case
from fuzz.programs import TEXTS, Tables, Value, columns_of, program, write_sqlite

NAMES = (
    *("", " ", "\t\t", "\r\nEvil: 1", "a\x00b", "\x1b[31mred\x1b]0;t\x07", "\x9b31m", "\u202egpj.exe", "\u2066x\u2069"),
    *("\u200b", "\ufeff", "a\u00adb", "\U000e0041", "\u2028\u2029", "í\xa0½", "﷽" * 100, "\U0001f600" * 50),
    *("=HYPERLINK('http://x')", "+1", "-1", "@SUM(A1)", " =1+1", "\u3000=1+1", "；=1", "a;=1+1", "＝1+1", "\x01=1"),
    *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "]]>", "</svg><script>x</script>", "&amp;&lt;"),
    *("a|b|c\n|x|", "`code`", "[x](javascript:alert(1))", "[bold red]x[/]", "[link=http://x]y[/link]", ":smile:"),
    *("$x^2_{1}$", "$\\frac{$", "\\alpha", "%s%n{0}{{x}}", "{{7*7}}", "{% x %}", "::warning::x", "None", "nan"),
    *("C:\\x\\y", "/etc/passwd", "../../x", "x" * 70_000, "é" * 4_000, "k<" * 3_000 + ">" * 3_000, "(((" * 999),
    *("cudaLaunchKernel", "cudaGraphLaunch_v10000", "cudaStreamBeginCapture_v10000", "cudaStreamEndCapture_v10000"),
    *("cudaMalloc", "cuInit", "ncclKernel_AllReduce", "void k<float>(int)", "_Z1kIfEvi", "_ZN" * 500, "step", "epoch"),
)
NUMBERS = (
    *(
        0,
        1,
        -1,
        2,
        7,
        59,
        60,
        70,
        71,
        75,
        255,
        2**15,
        2**24,
        2**31 - 1,
        2**31,
        -(2**31),
        2**32,
        2**32 + 1,
        2**47,
        2**48,
    ),
    *(2**53, 2**53 + 1, 10**15, 10**18, 2**61, -(2**61), 2**62 - 1, 2**62, 2**62 + 1, -(2**62), -(2**62) + 1),
    *(2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1),
)
OF_OTHER_TYPES = (
    1.5,
    2.0,
    1e18,
    1e300,
    float("inf"),
    "7",
    "text",
    "",
    " 12 ",
    "0x10",
    "9223372036854775808",
    b"\xff\0",
)
DECLARED = ("", "NUMERIC", "DECIMAL(20, 0)", "REAL", "BLOB", "TEXT", "ANY", "BOOLEAN", "DATE", "INT")
OPTIONS: tuple[tuple[str, ...], ...] = (
    *((),) * 8,
    *(("--window", "cuda"), ("--window", "nvtx"), ("--window", "capture"), ("--window", "steady")),
    *(("--window", "nvtx:step"), ("--window", "nvtx:forward"), ("--window", "1us:9us")),
    *(("--flops", "1e29"), ("--flops", "1"), ("--peak-tflops", "1e17")),
)


def absurd_values(folder: Path, rng: Random) -> Case:
    """Return a sound SQLite file with absurd content."""
    tables = program(rng)
    notes = _spoil(tables, rng)
    types: dict[str, str] = {}
    if rng.random() < 0.15:
        for table, rows in tables.items():
            types |= {f"{table}.{name}": rng.choice(DECLARED) for name in columns_of(rows) if rng.random() < 0.1}
    path = folder / "trace.sqlite"
    try:
        write_sqlite(path, tables, types)
    except (sqlite3.Error, OverflowError, UnicodeEncodeError) as error:  # no file can hold it
        notes.append(str(error))
        write_sqlite(path, program(rng))
    return Case((path.name, *rng.choice(OPTIONS)), f"{'; '.join(notes)}; {types}")


def _spoil(tables: Tables, rng: Random) -> list[str]:
    """Spoil tables in place and return what was done."""
    share, odd = rng.choice((0.0005, 0.005, 0.05, 0.3)), rng.random() < 0.1
    notes = [f"{share:.2%} of the values"]
    for table in list(tables):
        if rng.random() < 0.05:
            notes.append(f"no {table}")
            del tables[table]
            continue
        if rng.random() < 0.05:
            lost = rng.choice(columns_of(tables[table]))
            notes.append(f"no {table}.{lost}")
            tables[table] = [{name: value for name, value in row.items() if name != lost} for row in tables[table]]
        for row in tables[table]:
            for name in row:
                if rng.random() < share:
                    row[name] = absurd_value((table, name), rng, odd=odd)
    whole = [table for table, rows in tables.items() if rows and rows[0]]
    for table in rng.sample(whole, min(len(whole), rng.choice((0, 0, 1, 3)))):
        name = rng.choice(columns_of(tables[table]))
        value = absurd_value((table, name), rng, odd=False)
        notes.append(f"all {table}.{name} = {str(value)[:40]!r}")
        for row in tables[table]:
            row[name] = value
    for table in [table for table in tables if not columns_of(tables[table])]:
        del tables[table]
    return notes


def absurd_value(column: tuple[str, str], rng: Random, *, odd: bool) -> Value:
    """Return a value that no recording has there, in a column of a table; `odd` allows other types."""
    if rng.random() < 0.1:
        return None
    if odd and rng.random() < 0.1:
        return rng.choice(OF_OTHER_TYPES)
    return rng.choice(NAMES) if column in TEXTS else rng.choice(NUMBERS)
