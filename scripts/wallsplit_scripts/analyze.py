"""`wallsplit analyze`: traces in; one sentence, one bar, the tables behind them, and reports out."""

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from wallsplit_scripts.memory import return_large_blocks
from wallsplit_scripts.messages import say
from wallsplit_scripts.progress import progress

if TYPE_CHECKING:
    from wallsplit.analysis import Outcome
    from wallsplit.ledger.phases import PhaseRules
    from wallsplit.report.writing import File
    from wallsplit.why.samples.rules import Rule as ClassRule

REPORT_DIR = Path("reports")
QUANTITY_LIMIT = 1e30
"""More FLOPs than all computers have done."""


def _whole(factor: int) -> Callable[[click.Context, click.Parameter, float | None], int | None]:
    """Return what turns an option's number, in units of `factor`, into a whole one and refuses 0, NaN and the like."""

    def convert(ctx: click.Context, param: click.Parameter, value: float | None) -> int | None:
        if value is not None and not 1 <= value * factor < QUANTITY_LIMIT:
            raise click.BadParameter(f"{value:g} is not a number like 2.2e10.", ctx, param)
        return None if value is None else round(value * factor)

    return convert


def _rules(ctx: click.Context, param: click.Parameter, path: Path | None) -> "PhaseRules | None":
    """Return the rules in a file of the user's, with the table's behind them; None without a file."""
    from wallsplit.errors import PhaseRulesError
    from wallsplit.ledger.phases import phase_rules
    from wallsplit.text import visible

    try:
        return None if path is None else phase_rules(path)
    except PhaseRulesError as error:
        raise click.BadParameter(visible(str(error)), ctx, param) from error


def _classes(ctx: click.Context, param: click.Parameter, path: Path | None) -> "tuple[ClassRule, ...]":
    """Return the classes of CPU samples in a file of the user's; none without a file."""
    from wallsplit.errors import ClassRulesError
    from wallsplit.text import visible
    from wallsplit.why.samples.class_rules import class_rules

    try:
        return () if path is None else class_rules(path)
    except ClassRulesError as error:
        raise click.BadParameter(visible(str(error)), ctx, param) from error


@click.command()
@click.argument("traces", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--window",
    metavar="W",
    help="cuda, nvtx, capture, steady (the steps after warm-up), START:END (1.2s:3s) or nvtx:NAME. Default: the first "
    "of cuda, nvtx and capture that the trace has.",
)
@click.option(
    "--flops",
    type=float,
    callback=_whole(1),
    metavar="N",
    help="Floating-point operations of each process in the window, 2.2e10, for the arithmetic. "
    "Default: as the manifest beside the trace says.",
)
@click.option(
    "--peak-tflops",
    "peak_flops_per_s",
    type=float,
    callback=_whole(10**12),
    metavar="X",
    help="Peak TFLOP/s of what a process computes on. Default: SMs × lanes × 2 × clock.",
)
@click.option(
    "--phases",
    type=click.Path(path_type=Path),
    callback=_rules,
    metavar="FILE.toml",
    help='Which NVTX ranges are which phase, before the built-in rules: a line like data = ["shard reader"].',
)
@click.option(
    "--classes",
    type=click.Path(path_type=Path),
    callback=_classes,
    metavar="FILE.toml",
    help="Which code is of which class where the CPU was sampled, before the built-in rules: tables [[rule]].",
)
@click.option("--top", default=20, show_default=True, type=click.IntRange(min=1), help="Rows of a table people read.")
@click.option("--json", "as_json", is_flag=True, help="Print the machine-readable document instead.")
@click.option(
    "--report-dir", type=click.Path(path_type=Path), metavar="DIR", help="Where reports go. Default: reports."
)
@click.option("--no-report", is_flag=True, help="Write no reports.")
@click.option("--tables", type=click.Path(path_type=Path), metavar="DIR", help="Also write every table there.")
@click.option("--format", "table_format", default="csv", show_default=True, type=click.Choice(["csv", "parquet"]))
@click.option("--force", is_flag=True, help="Replace files that wallsplit did not write.")
@click.option("--nsys", metavar="PATH", help="The nsys that exports reports (.nsys-rep). Default: the one found.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Analyse N traces at once. Default: one a core, fewer if small.",
)
@click.option(
    "--dask", metavar="ADDRESS", help="Analyse on the Dask cluster there; its workers must see the same paths."
)
def analyze(
    traces: tuple[Path, ...],
    window: str | None,
    flops: int | None,
    peak_flops_per_s: int | None,
    phases: "PhaseRules | None",
    classes: "tuple[ClassRule, ...]",
    top: int,
    as_json: bool,
    report_dir: Path | None,
    no_report: bool,
    tables: Path | None,
    table_format: Literal["csv", "parquet"],
    force: bool,
    nsys: str | None,
    jobs: int | None,
    dask: str | None,
) -> int:
    """Say where the wall time of TRACES went, to the nanosecond.

    TRACES are nsys exports (.sqlite, or folders of type parquetdir or arrowdir). Reports (.nsys-rep) will do where
    nsys is: they are exported first.
    """
    return_large_blocks()
    from wallsplit.analysis import Analysis, Failure

    if jobs and dask:
        raise click.UsageError("--jobs is for this machine; a Dask cluster has its own workers (--dask)")
    asked = partial(
        _analyze_one,
        window=window,
        flops=flops,
        peak_flops_per_s=peak_flops_per_s,
        phases=phases,
        classes=classes,
        nsys=nsys,
    )
    outcomes = _analyze_all(traces, asked, jobs, dask)
    folder = None if no_report or (as_json and report_dir is None) else report_dir or REPORT_DIR
    written = _write(outcomes, folder, tables, top=top, table_format=table_format, force=force)
    if as_json:
        _print_json(outcomes)
    else:
        _print(outcomes, top, written)
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            say(outcome.message)
    return 0 if all(isinstance(outcome, Analysis) for outcome in outcomes) else 1


def _analyze_all(
    traces: Sequence[Path], one: "Callable[[Path], Outcome]", jobs: int | None, dask: str | None
) -> "list[Outcome]":
    from wallsplit_scripts import many

    with progress(len(traces)) as advance:
        if dask is not None:
            from wallsplit_scripts import cluster

            return cluster.analyze_all(traces, one, dask, advance)
        return many.analyze_all(traces, one, jobs or many.default_jobs(traces), advance)


def _analyze_one(
    trace: Path,
    *,
    window: str | None,
    flops: int | None,
    peak_flops_per_s: int | None,
    phases: "PhaseRules | None",
    classes: "tuple[ClassRule, ...]",
    nsys: str | None,
) -> "Outcome":
    from wallsplit.analysis import Failure
    from wallsplit.errors import WallsplitError
    from wallsplit.ledger.phases import PHASES
    from wallsplit.pipeline import analyze as analysis_of
    from wallsplit.trace.identify import REPORT_SUFFIXES

    try:
        source = trace
        if trace.suffix.lower() in REPORT_SUFFIXES and trace.is_file():
            from wallsplit_scripts.cache import cached_export

            source = cached_export(trace, nsys)
        return analysis_of(
            source,
            window,
            shown_as=trace,
            flops=flops,
            peak_flops_per_s=peak_flops_per_s,
            phases=PHASES if phases is None else phases,
            classes=classes,
        )
    except WallsplitError as error:
        message = str(error)
        return Failure(str(trace), message if str(trace) in message else f"{trace}: {message}")


def _write(
    outcomes: "Sequence[Outcome]",
    folder: Path | None,
    tables: Path | None,
    *,
    top: int,
    table_format: Literal["csv", "parquet"],
    force: bool,
) -> list[Path]:
    """Write what was asked for and return the pages a person opens first."""
    if tables is None and folder is None:
        return []
    from wallsplit.analysis import Analysis
    from wallsplit.report import files as report_files
    from wallsplit.report import tables as table_files
    from wallsplit.report.build import report
    from wallsplit.report.index import STEM, index
    from wallsplit.report.writing import write

    analyses = [outcome for outcome in outcomes if isinstance(outcome, Analysis)]
    if not analyses:
        return []
    stems = report_files.stems([analysis.path for analysis in analyses])
    named = list(zip(analyses, stems, strict=True))
    if tables is not None:
        every: list[File] = [file for a, stem in named for file in table_files.files(a, stem, table_format)]
        write(every, tables, force=force)
    if folder is None:
        return []
    pages = [file for a, stem in named for file in report_files.files(report(a, top), stem)]
    if len(outcomes) > 1:
        pages += report_files.files(index(analyses, stems, _failures(outcomes)), STEM)
    paths = write(pages, folder, force=force)
    return [path for path in paths if path.suffix == ".html"]


def _failures(outcomes: "Sequence[Outcome]") -> list[tuple[str, str]]:
    from wallsplit.analysis import Failure

    return [(outcome.path, outcome.message) for outcome in outcomes if isinstance(outcome, Failure)]


def _print_json(outcomes: "Sequence[Outcome]") -> None:
    from wallsplit.report import json

    click.echo(json.text(json.document(outcomes)), nl=False)


def _print(outcomes: "Sequence[Outcome]", top: int, written: Sequence[Path]) -> None:
    from rich.console import Console

    from wallsplit.analysis import Analysis
    from wallsplit.comparison.program import are_of_one_program
    from wallsplit.report.build import report
    from wallsplit.report.terminal import terminal
    from wallsplit.text import visible

    console = Console(highlight=False, markup=False, emoji=False)
    for outcome in outcomes:
        if isinstance(outcome, Analysis):
            console.print(terminal(report(outcome, top), console))
    for path in written[-1:] if len(written) > 1 else written:
        click.echo(f"Report: {visible(str(path))}")
    analyses = [outcome for outcome in outcomes if isinstance(outcome, Analysis)]
    if len(analyses) == len(outcomes) == 2 and are_of_one_program(*analyses):
        names = " ".join(visible(shlex.quote(analysis.path)) for analysis in analyses)
        click.echo(f"Both are of one program: wallsplit compare {names}")
