"""`wallsplit predict`: a trace in; what it would take if one thing were different, or why that cannot be told."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wallsplit_scripts.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wallsplit.comparison.predict.prediction import Prediction
    from wallsplit.run.manifest import RunManifest

QUESTIONS = (
    *("gpu-infinite", "host-infinite", "gpu-x2", "host-x2", "no-waits", "graphs", "copies-hidden", "comm-hidden"),
    "batch-x2",
)
"""Their names as in wallsplit.comparison.predict.changes, which is imported when it is needed."""


WITHOUT = "without:"


def _what(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the questions as they are, if there is each of them."""
    for value in values:
        if value not in QUESTIONS and (not value.startswith(WITHOUT) or value == WITHOUT):
            raise click.BadParameter(f"{value}: is none of {', '.join(QUESTIONS)} and without:RANGE", ctx, param)
    return values


@click.command()
@click.argument("traces", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="TRACE...")
@click.option(
    "--what",
    multiple=True,
    callback=_what,
    shell_complete=lambda _ctx, _param, begun: [name for name in (*QUESTIONS, WITHOUT) if name.startswith(begun)],
    metavar="NAME",
    help=f"Ask only this: {', '.join(QUESTIONS)}, or without:RANGE, an NVTX range (* stands for anything). May be "
    "given several times.",
)
@click.option("--replay-errors", is_flag=True, help="Print how far unchanged replays miss, as a Markdown table.")
@click.option("--json", "as_json", is_flag=True, help="Print the machine-readable document instead.")
@click.option("--nsys", metavar="PATH", help="The nsys that exports reports (.nsys-rep). Default: the one found.")
def predict(
    traces: tuple[Path, ...], what: tuple[str, ...], replay_errors: bool, as_json: bool, nsys: str | None
) -> int:
    """Say what the run of each TRACE would take if one thing were different.

    The trace is replayed as a simulation. Where the unchanged replay misses the recorded time, or too much waiting has
    no explanation, or a part of the work was not recorded, nothing is predicted. Every figure is an interval, and a
    limit rather than a promise; what is never predicted is printed.

    Traces of several batch sizes, with their manifests (or manifests alone: .run.json), also give what a step takes by
    batch size, and from which batch size on one device overtakes another. Exit code: 1 where nothing is predicted.
    """
    from wallsplit.comparison.predict import words
    from wallsplit.comparison.predict.batches import batches
    from wallsplit.comparison.predict.documents import document
    from wallsplit.report.json import text

    found, manifests = _read(traces, () if replay_errors else what or QUESTIONS, nsys)
    lines = batches(manifests)
    is_answered = any(one.answers for _, every in found for one in every)
    if as_json:
        click.echo(text(document(found, lines)), nl=False)
    elif replay_errors:
        click.echo("\n".join(words.errors_page([(Path(path).stem, one) for path, one in found])))
    else:
        said = [line for path, predictions in found for line in words.sentences(path, predictions)]
        _print([*said, *words.batch_sentences(lines), *([words.closing()] if is_answered else [])])
    return 0 if replay_errors or is_answered or lines.lines else 1


def _print(lines: "Sequence[str]") -> None:
    """Print lines in the width there is; what goes on is indented below its line."""
    from rich.console import Console

    from wallsplit.report.terminal_screen import means

    how = means(Console())
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        click.echo("\n".join(how.wrapped(line.lstrip(), f"{indent}  ", indent)))


def _read(
    traces: tuple[Path, ...], what: tuple[str, ...], nsys: str | None
) -> "tuple[list[tuple[str, tuple[Prediction, ...]]], list[RunManifest]]":
    """Return the predictions of each trace, by path, and the manifests there are."""
    from wallsplit.comparison.predict.changes import QUESTIONS as EVERY
    from wallsplit.comparison.predict.prediction import predictions
    from wallsplit.pipeline import examine
    from wallsplit.run import manifest
    from wallsplit.run.beside_trace import recorded_run
    from wallsplit_scripts.cache import export_of

    asked = [question for question in EVERY if question.name in what]
    patterns = [name.removeprefix(WITHOUT) for name in what if name.startswith(WITHOUT)]
    found, manifests = [], []
    with progress(len(traces)) as advance:
        for path in traces:
            advance(path.name)
            if path.name.endswith(".run.json"):
                manifests.append(manifest.read(path))
                continue
            examined = examine(export_of(path, nsys))
            found.append((str(path), predictions(examined.model, examined.activities, asked, patterns)))
            beside = recorded_run(path).manifest
            manifests += [] if beside is None else [beside]
    return found, manifests
