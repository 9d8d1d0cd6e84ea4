"""`wallsplit compare`: two or more sides in; what changed, account by account, and whether it is more than noise."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import click

from wallsplit_scripts import options
from wallsplit_scripts.memory import return_large_blocks
from wallsplit_scripts.messages import ELSEWHERE, say, tell
from wallsplit_scripts.progress import progress

if TYPE_CHECKING:
    from wallsplit.analysis import Failure
    from wallsplit.comparison.collectives import RankTrace
    from wallsplit.comparison.pairs import Comparison
    from wallsplit.comparison.repeats import Measured
    from wallsplit.errors import WallsplitError
    from wallsplit.report.document import Report

REPORT_DIR = Path("reports")
COULD_NOT = 2
"""Exit code: there is no comparison. What a comparison says changes nothing: judging is `check`'s."""
STDOUT = "-"
T = TypeVar("T")


@click.command()
@click.argument("sides", nargs=-1, required=True, metavar="[LABEL=]TRACE [LABEL=]TRACE...")
@click.option(
    "--per",
    default="auto",
    show_default=True,
    metavar="U",
    help="run, step, sample (of training, by the manifests), nvtx:GLOB (ranges of that name) or kernel:GLOB (launches "
    "of those kernels, for traces cut out by the clock). auto: the first of sample, step and run that all traces have.",
)
@click.option(
    "--ranks",
    "are_ranks",
    is_flag=True,
    help="The traces are those of one run's ranks: say which one the others wait for.",
)
@click.option("--window", metavar="W", callback=options.window, help="As for analyze; of every trace.")
@click.option("--chain", is_flag=True, help="Compare each side with the one before it, not all with the first.")
@click.option(
    "--figure",
    type=click.Choice(["median", "p05", "mean"]),
    default="median",
    show_default=True,
    help="Of steps, what the verdict is about: p05, the undisturbed step, on a busy machine.",
)
@click.option(
    "--level", type=click.FloatRange(50, 99.99), default=95, show_default=True, metavar="PERCENT", help="Of intervals."
)
@click.option("--top", default=20, show_default=True, type=options.COUNT, help="Rows of a table people read.")
@click.option("--json", "as_json", is_flag=True, help="Print the machine-readable document instead.")
@click.option(
    "--markdown",
    is_flag=False,
    flag_value=STDOUT,
    metavar="[FILE]",
    help="Print a comment for a pull request instead, or write it to FILE.",
)
@click.option(
    "--report-dir", type=click.Path(path_type=Path), metavar="DIR", help="Where reports go. Default: reports."
)
@click.option("--no-report", is_flag=True, help="Write no reports.")
@click.option("--force", is_flag=True, help="Replace files that wallsplit did not write.")
@click.option("--nsys", metavar="PATH", help="The nsys that exports reports (.nsys-rep). Default: the one found.")
def compare(
    sides: tuple[str, ...],
    per: str,
    are_ranks: bool,
    window: str | None,
    chain: bool,
    figure: Literal["median", "p05", "mean"],
    level: float,
    top: int,
    as_json: bool,
    markdown: str | None,
    report_dir: Path | None,
    no_report: bool,
    force: bool,
    nsys: str | None,
) -> int:
    """Say what changed between traces, account by account: the changes sum to that of the wall time exactly.

    The first side is the baseline. The same LABEL again adds a repeat: with three runs a side and more there is a
    verdict, with fewer there is none. Without a LABEL a side is called as its file. TRACES are as for analyze, or what
    analyze --json printed. Exit code: 0 compared, 2 could not.
    """
    return_large_blocks()
    from wallsplit.comparison.pairs import compare as comparison_of
    from wallsplit.comparison.sides import named_paths
    from wallsplit.comparison.units import checked
    from wallsplit.errors import WallsplitError
    from wallsplit.report.comparison_report import STEM, comparison_report

    is_page = not (as_json or markdown is not None)
    folder = None if no_report or not (is_page or report_dir) else report_dir or REPORT_DIR
    if are_ranks and (chain or markdown is not None or per != "auto"):
        raise click.UsageError("--ranks compares the ranks of one run; --per, --chain and --markdown are for sides")
    try:
        if are_ranks:
            _ranks(sides, window, top, nsys, as_json=as_json, folder=folder, force=force)
            return 0
        named = named_paths(sides)
        found = measured_traces([path for paths in named.values() for path in paths], checked(per), window, nsys)
        traces = iter(found)
        comparison = comparison_of(
            {label: [next(traces) for _ in paths] for label, paths in named.items()},
            per,
            chain=chain,
            figure=figure,
            level=level / 100,
        )
        if as_json:
            _print_json(comparison, window, nsys)
        elif markdown is not None:
            _write_comment(comparison, top, markdown, force=force)
        _write(comparison_report(comparison, top), STEM, folder, force=force, is_printed=is_page)
    except WallsplitError as error:
        say(str(error))
        return COULD_NOT
    return 0


def measured_traces(paths: Sequence[Path], per: str, window: str | None, nsys: str | None) -> "list[Measured]":
    """Return every trace measured; a trace named twice is read once."""
    distinct = list(dict.fromkeys(paths))
    found = dict(zip(distinct, _all(distinct, partial(_measured_one, per=per, window=window, nsys=nsys)), strict=True))
    return [found[path] for path in paths]


def _all(paths: Sequence[Path], one: "Callable[[Path], T | Failure]") -> "list[T]":
    """Return what is made of every trace; a comparison with a hole is none."""
    from wallsplit.analysis import Failure
    from wallsplit.errors import ComparisonError
    from wallsplit_scripts import many

    found: list[T] = []
    with progress(len(paths)) as advance:
        for outcome in many.analyze_all(paths, one, many.default_jobs(paths), advance):
            if isinstance(outcome, Failure):
                raise ComparisonError(outcome.message)
            found.append(outcome)
    return found


def _measured_one(trace: Path, *, per: str, window: str | None, nsys: str | None) -> "Measured | Failure":
    from wallsplit.analysis import Analysis
    from wallsplit.comparison.repeats import measured_before
    from wallsplit.errors import ComparisonError, WallsplitError
    from wallsplit.pipeline import measure

    try:
        if is_saved(trace):
            if window is not None:
                raise ComparisonError("is a saved analysis and has its own window; compare it without --window")
            return measured_before(replace(Analysis.from_json(trace), path=str(trace)), per)
        return measure(_export(trace, nsys), per, window, shown_as=trace)
    except WallsplitError as error:
        return _failure(trace, error)


def is_saved(trace: Path) -> bool:
    """Return whether this is what `analyze --json` printed, and no trace."""
    try:
        if not trace.is_file():
            return False
        with trace.open("rb") as file:
            return file.read(64).lstrip()[:1] == b"{"
    except OSError:
        return False


def _export(trace: Path, nsys: str | None) -> Path:
    from wallsplit.trace.identify import REPORT_SUFFIXES
    from wallsplit_scripts.cache import cached_export

    return cached_export(trace, nsys) if trace.suffix.lower() in REPORT_SUFFIXES and trace.is_file() else trace


def _print_json(comparison: "Comparison", window: str | None, nsys: str | None) -> None:
    """Print the document: every trace analysed in full, and the comparison that refers to them."""
    from wallsplit.analysis import Analysis
    from wallsplit.pipeline import analyze
    from wallsplit.report import json
    from wallsplit.report.comparison_json import comparison_value

    paths = list(dict.fromkeys(repeat.path for side in comparison.sides for repeat in side.repeats))
    analyses = [
        Analysis.from_json(path) if is_saved(path) else analyze(_export(path, nsys), window, shown_as=path)
        for path in map(Path, paths)
    ]
    places = {side.label: [paths.index(repeat.path) for repeat in side.repeats] for side in comparison.sides}
    click.echo(json.text(json.document(analyses, comparison_value(comparison, places))), nl=False)


def _write_comment(comparison: "Comparison", top: int, target: str, *, force: bool) -> None:
    from wallsplit.report.pull_request import MARK, pull_request
    from wallsplit.report.writing import File, write

    comment = pull_request(comparison, top)
    if target == STDOUT:
        tell(comment)
    else:
        path = Path(target)
        write([File(path.name, comment.encode(), MARK.encode())], path.parent, force=force)


def _ranks(
    arguments: Sequence[str],
    window: str | None,
    top: int,
    nsys: str | None,
    *,
    as_json: bool,
    folder: Path | None,
    force: bool,
) -> None:
    """Compare the ranks of one run, a trace each or several, in the order given."""
    from wallsplit.comparison.across_ranks import compare_ranks
    from wallsplit.comparison.sides import files_of
    from wallsplit.report import json
    from wallsplit.report.ranks_report import STEM, ranks_report, ranks_value

    paths = [path for argument in arguments for path in files_of(argument)]
    traces = _all(paths, partial(_ranks_of_one, window=window, nsys=nsys))
    found = compare_ranks([rank for trace in traces for rank in trace])
    if as_json:
        click.echo(json.text(json.document([], ranks=ranks_value(found))), nl=False)
    _write(ranks_report(found, top), STEM, folder, force=force, is_printed=not as_json)


def _ranks_of_one(trace: Path, *, window: str | None, nsys: str | None) -> "tuple[RankTrace, ...] | Failure":
    from wallsplit.errors import WallsplitError
    from wallsplit.pipeline import ranks_of

    try:
        return ranks_of(_export(trace, nsys), window, shown_as=trace)
    except WallsplitError as error:
        return _failure(trace, error)


def _failure(trace: Path, error: "WallsplitError") -> "Failure":
    from wallsplit.analysis import Failure

    message = str(error)
    return Failure(str(trace), message if str(trace) in message else f"{trace}: {message}")


def _write(report: "Report", stem: str, folder: Path | None, *, force: bool, is_printed: bool) -> None:
    """Print the report if asked to, and write its pages unless there is no folder."""
    from rich.console import Console

    from wallsplit.errors import ReportError
    from wallsplit.report.files import files
    from wallsplit.report.terminal import terminal
    from wallsplit.report.writing import write
    from wallsplit.text import visible

    if is_printed:
        console = Console(highlight=False, markup=False, emoji=False)
        console.print(terminal(report, console))
    sys.stdout.flush()  # what was found is there also if its report cannot be written
    if folder is None:
        return
    try:
        paths = write(files(report, stem), folder, force=force)
    except ReportError as error:
        raise ReportError(f"{error} ({ELSEWHERE})") from error
    if is_printed:
        tell(f"Report: {visible(str(paths[0]))}\n")
