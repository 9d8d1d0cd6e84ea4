"""Folder exports damaged: bytes, lengths, types, files; rows of another type are the same rows, or are refused."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import polars as pl

from fuzz.absurd import NAMES
from fuzz.cases import Case
from fuzz.programs import TEXTS, columns_of, program, write_folder, write_table
from wallsplit.errors import WallsplitError
from wallsplit.trace import Trace
from wallsplit.trace.raw import TABLES

WORDS = (0, 1, -1, 2, 7, 255, 2**15, 2**20, 2**28, 2**31 - 1, -(2**31))
WHOLE_EVERY = 3


def damaged_folder(folder: Path, rng: Random) -> Case:
    """Return a folder export some of whose files are damaged, or absent, or hold something else."""
    suffix = rng.choice((".parquet", ".arrow"))
    export = folder / ("trace_pqtdir" if suffix == ".parquet" else "trace_arwdir")
    write_folder(export, program(rng), suffix)
    files = sorted(export.iterdir())
    notes = [rng.choice(DAMAGES)(file, rng) for file in rng.sample(files, rng.choice((1, 1, 2, 4)))]
    whole = rng.randrange(WHOLE_EVERY) == 0
    return Case((export.name,), f"{suffix}: {'; '.join(notes)}", lambda: _read(export), whole)


def folder_of_other_types(folder: Path, rng: Random) -> Case:
    """Return a folder export whose columns have other types than nsys gives them, but the same values."""
    suffix = rng.choice((".parquet", ".arrow"))
    sound, export = folder / "sound", folder / "trace"
    tables = program(rng)
    write_folder(sound, tables, suffix)
    write_folder(export, tables, suffix)
    notes = []
    for table in rng.sample(list(tables), 6):
        rows, column = tables[table], rng.choice(columns_of(tables[table]))
        kind = rng.choice(KINDS_OF_TEXT if (table, column) in TEXTS else KINDS_OF_NUMBERS)
        frame = pl.read_parquet(sound / f"{table}{suffix}") if suffix == ".parquet" else _stream(sound, table)
        try:
            write_table(export / f"{table}{suffix}", frame.with_columns(pl.col(column).cast(kind)))
        except pl.exceptions.PolarsError:
            continue  # the type does not hold the values
        notes.append(f"{table}.{column} as {kind}, {len(rows)} rows")
    return Case((export.name,), f"{suffix}: {'; '.join(notes)}", lambda: _compared(sound, export), rng.random() < 0.2)


def _stream(folder: Path, table: str) -> pl.DataFrame:
    return pl.read_ipc_stream(folder / f"{table}.arrow")


def _scanned(trace: Trace) -> dict[str, pl.DataFrame | str]:
    """Return every table that is read, or why it is refused."""
    tables: dict[str, pl.DataFrame | str] = {}
    for table in TABLES:
        try:
            tables[table.name] = trace.scan(table.name, table.columns).collect()
        except WallsplitError as error:
            tables[table.name] = str(error)
    return tables


def _read(export: Path) -> list[str]:
    try:
        tables = _scanned(Trace.open(export))
    except WallsplitError as error:
        return [f"message of several lines: {error}"] if "\n" in str(error) else []
    return [f"message of several lines: {told}" for told in tables.values() if isinstance(told, str) and "\n" in told]


def _compared(sound: Path, export: Path) -> list[str]:
    try:
        tables = _scanned(Trace.open(export))
    except WallsplitError as error:
        return [f"message of several lines: {error}"] if "\n" in str(error) else []
    wanted = _scanned(Trace.open(sound))
    return [
        f"{name} has other rows"
        for name, frame in tables.items()
        if isinstance(frame, pl.DataFrame) and not frame.equals(_frame(wanted[name]))
    ]


def _frame(table: pl.DataFrame | str) -> pl.DataFrame:
    assert isinstance(table, pl.DataFrame), table
    return table


KINDS_OF_NUMBERS: tuple[pl.DataType, ...] = (
    *(pl.Int8(), pl.Int32(), pl.UInt8(), pl.UInt32(), pl.UInt64(), pl.Int128(), pl.Float32(), pl.Float64()),
    *(pl.String(), pl.Categorical(), pl.Decimal(38, 0), pl.Decimal(38, 6), pl.Date(), pl.Time()),
    *(pl.Datetime("ns"), pl.Duration("ns"), pl.List(pl.Int64()), pl.Array(pl.Int64(), 1)),
)
KINDS_OF_TEXT: tuple[pl.DataType, ...] = (pl.Categorical(), pl.Binary(), pl.List(pl.String()), pl.Enum([]))


def flip(file: Path, rng: Random) -> str:
    data = bytearray(file.read_bytes())
    for _ in range(count := rng.choice((1, 1, 4, 16))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)
    return f"{count} bits of {file.name}"


def flip_in_metadata(file: Path, rng: Random) -> str:
    """Flip bits where Parquet keeps its footer and Arrow its schema."""
    data = bytearray(file.read_bytes())
    region = range(max(0, len(data) - 1_500), len(data)) if file.suffix == ".parquet" else range(min(1_500, len(data)))
    for _ in range(count := rng.choice((1, 1, 2, 8))):
        data[rng.choice(region)] = rng.randrange(256)
    file.write_bytes(data)
    return f"{count} bytes of the metadata of {file.name}"


def absurd_word(file: Path, rng: Random) -> str:
    """Make an aligned word, a length or an offset, something else."""
    data = bytearray(file.read_bytes())
    size = rng.choice((4, 8))
    if len(data) > 2 * size:
        at = rng.randrange(len(data) // size - 1) * size
        data[at : at + size] = rng.choice(WORDS).to_bytes(size, "little", signed=True)
        file.write_bytes(data)
    return f"an absurd word in {file.name}"


def truncation(file: Path, rng: Random) -> str:
    data = file.read_bytes()
    file.write_bytes(data[: rng.choice((0, 1, 8, len(data) // 2, len(data) - 1, rng.randrange(len(data))))])
    return f"{file.name} cut"


def extension(file: Path, rng: Random) -> str:
    file.write_bytes(file.read_bytes() + rng.choice((b"\0", rng.randbytes(100), file.read_bytes())))
    return f"{file.name} longer"


def absence(file: Path, _rng: Random) -> str:
    file.unlink(missing_ok=True)
    return f"no {file.name}"


def other_content(file: Path, rng: Random) -> str:
    siblings = [path for path in file.parent.iterdir() if path.is_file() and path != file]
    content = rng.choice(
        (b"", b"PAR1", b"PAR1" * 3, b"\xff" * 64, b"\0" * 5_000, b"SQLite format 3\0", rng.randbytes(99))
    )
    if siblings and rng.random() < 0.4:
        content = rng.choice(siblings).read_bytes()
    file.write_bytes(content)
    return f"something else in {file.name}"


def no_file(file: Path, rng: Random) -> str:
    file.unlink(missing_ok=True)
    if rng.random() < 0.5:
        file.mkdir()
    else:
        file.symlink_to(rng.choice(("nowhere", ".", "/dev/null", file.name)))
    return f"{file.name} is no file"


def other_columns(file: Path, rng: Random) -> str:
    """Drop, double and misname columns; names may be hostile."""
    frame = _whole(file)
    if frame is None:
        return "nothing"
    column = rng.choice(frame.columns)
    match rng.randrange(4):
        case 0:
            frame = frame.drop(column)
        case 1:
            frame = frame.rename({column: rng.choice(("", "a\nb", "\x1b[31m", "x" * 5_000, column.upper()))})
        case 2:
            frame = frame.clear()
        case _:
            frame = frame.with_columns(pl.lit(None).alias(column))
    write_table(file, frame)
    return f"other columns in {file.name}, without {column}"


def absurd_dictionary(file: Path, rng: Random) -> str:
    """Make texts categories, among them hostile ones, and damage a word where dictionaries lie."""
    frame = _whole(file)
    texts = [name for name in frame.columns if frame.schema[name] == pl.String] if frame is not None else []
    if frame is None or not texts:
        return absurd_word(file, rng)
    values = [rng.choice(NAMES) for _ in range(frame.height)]
    values = [value.encode("utf-8", "replace").decode() for value in values]
    write_table(file, frame.with_columns(pl.Series(texts[0], values).cast(pl.Categorical)))
    return f"a dictionary; {absurd_word(file, rng)}"


def _whole(file: Path) -> pl.DataFrame | None:
    """Return what a file holds; None where an earlier damage has made it unreadable."""
    try:
        return pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_ipc_stream(file)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None


Damage = Callable[[Path, Random], str]
DAMAGES: tuple[Damage, ...] = (
    *(flip, flip, flip_in_metadata, flip_in_metadata, absurd_word, absurd_word, truncation, extension, absence),
    *(other_content, no_file, other_columns, other_columns, absurd_dictionary),
)
