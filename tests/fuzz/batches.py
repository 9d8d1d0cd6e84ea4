"""Cases in forked children: a crash, a hang or a hunger for memory ends one of them, and is an outcome like others."""

import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from typing import IO

from fuzz.cases import Case
from fuzz.judging import Ran, judged
from fuzz.kinds import KINDS

BATCH = 50
LIMIT_S = 60
LIMIT_BYTES = 4 << 30
IMPORTED = (  # before the fork, so that no child imports them anew
    *("matplotlib.backends.backend_svg", "wallsplit.pipeline", "wallsplit.report.build", "wallsplit.report.terminal"),
    *(
        "wallsplit.report.tables",
        "wallsplit_scripts.analyze",
        "wallsplit_scripts.many",
        "wallsplit_scripts.workers",
        "rich.progress",
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    number: int
    kind: str
    note: str
    code: int | None
    """The command's exit code; None where it was not run, or did not end."""
    bad: tuple[str, ...]
    said: str


def outcomes(numbers: Sequence[int], kept: Path | None = None) -> Iterator[Outcome]:
    """Yield the outcome of each case; with `kept`, its files stay in that folder."""
    for module in IMPORTED:
        import_module(module)
    todo = list(numbers)
    while todo:
        last = todo[0]
        for outcome in _batch(todo[:BATCH], kept):
            yield outcome
            last = outcome.number
        todo = todo[todo.index(last) + 1 :]


def _batch(numbers: Sequence[int], kept: Path | None) -> Iterator[Outcome]:
    """Yield the outcomes of cases in one child; after a case that ends it, none come."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _children_work(numbers, kept, writing)
    os.close(writing)
    begun, ended = None, False
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        for line in _lines(pipe, child):
            record = json.loads(line)
            if "begun" in record:
                begun = record["begun"]
            else:
                begun = None
                yield Outcome(**record | {"bad": tuple(record["bad"])})
    ended = os.waitpid(child, 0)[1] == 0
    if begun is not None:
        yield Outcome(begun, kind(begun), "", None, ("crash, hang or hunger: the process was ended",), "")
    elif not ended:
        yield Outcome(numbers[-1], kind(numbers[-1]), "", None, ("the process ended badly after its cases",), "")


def _lines(pipe: IO[bytes], child: int) -> Iterator[bytes]:
    """Yield a child's lines; one that says nothing for too long is ended."""
    unfinished = b""
    while True:
        if not select.select([pipe], [], [], LIMIT_S)[0]:
            os.kill(child, signal.SIGKILL)
        received = pipe.read(1 << 16)
        if not received:
            return
        *lines, unfinished = (unfinished + received).split(b"\n")
        yield from lines


def _children_work(numbers: Sequence[int], kept: Path | None, writing: int) -> None:
    """Do the cases and end the process: nothing of the parent's is cleaned up twice."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("always")  # not only the first of each place
    try:
        with os.fdopen(writing, "w") as pipe:
            for number in numbers:
                print(json.dumps({"begun": number}), file=pipe, flush=True)
                print(json.dumps(asdict(_outcome(number, kept))), file=pipe, flush=True)
    finally:
        os._exit(0)


def kind(number: int) -> str:
    """Return the kind of a case."""
    return KINDS[number % len(KINDS)].__name__


def _outcome(number: int, kept: Path | None) -> Outcome:
    make = KINDS[number % len(KINDS)]
    rng = Random(f"{make.__name__} {number}")
    folder = Path(tempfile.mkdtemp(prefix="fuzz-")) if kept is None else kept
    folder.mkdir(exist_ok=True)
    try:
        case = make(folder, rng)
        as_json, arguments = rng.random() < 0.7, list(case.arguments)
        arguments += ["--json"] if as_json else []
        arguments += ["--tables", "tables"] if rng.random() < 0.1 else []
        arguments += ["--no-report"] if not as_json and rng.random() < 0.7 else []
        bad = _checked(case)
        ran = _run(folder, arguments) if case.runs else None
        bad += judged(ran) if ran else []
        code, said = (ran.code, ran.err[:300]) if ran else (None, "")
        return Outcome(number, make.__name__, case.note, code, tuple(x[:800] for x in bad), said)
    finally:
        if kept is None:
            shutil.rmtree(folder, ignore_errors=True)


def _checked(case: Case) -> list[str]:
    try:
        return case.check()
    except Exception:
        return [f"traceback: {traceback.format_exc()[-600:]}"]


def _run(folder: Path, arguments: Sequence[str]) -> Ran:
    """Return how `analyze` ends in this process, its two streams in files."""
    from wallsplit_scripts.main import load, run

    before, streams = Path.cwd(), (sys.stdout, sys.stderr)
    os.chdir(folder)
    saved = [os.dup(number) for number in (1, 2)]
    out, err = folder / ".out", folder / ".err"
    with (
        out.open("w+", encoding="utf-8", errors="surrogateescape") as sys.stdout,
        err.open("w+", encoding="utf-8", errors="backslashreplace") as sys.stderr,
    ):
        for number, stream in zip((1, 2), (sys.stdout, sys.stderr), strict=True):
            os.dup2(stream.fileno(), number)
        try:
            code = run(load("wallsplit_scripts.analyze:analyze"), arguments, name="analyze")
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
        except BaseException:
            traceback.print_exc()
            code = 250
    sys.stdout, sys.stderr = streams
    for number, copy in zip((1, 2), saved, strict=True):
        os.dup2(copy, number)
        os.close(copy)
    os.chdir(before)
    made = [path for name in ("reports", "tables") for path in sorted((folder / name).glob("*")) if path.is_file()]
    return Ran(code, _text(out), _text(err), {path.name: path.read_bytes() for path in made})


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")
