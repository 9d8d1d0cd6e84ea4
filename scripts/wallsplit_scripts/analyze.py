"""`wallsplit analyze`: traces in; one sentence, one bar, the tables behind them, and reports out."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from wallsplit_scripts import completion, options, outputs
from wallsplit_scripts.memory import return_large_blocks
from wallsplit_scripts.messages import say
from wallsplit_scripts.progress import progress, stage

if TYPE_CHECKING:
    from wallsplit.analysis import Outcome
    from wallsplit.ledger.phases import PhaseRules
    from wallsplit.why.samples.rules import Rule as ClassRule

REPORT_DIR = Path("reports")
PRINTED, GITHUB = "print", "github"
PICTURES = (".svg", ".png")
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
    if path is None:
        return None
    from wallsplit.errors import PhaseRulesError
    from wallsplit.ledger.phases import phase_rules
    from wallsplit.text import visible

    try:
        return phase_rules(path)
    except PhaseRulesError as error:
        raise click.BadParameter(visible(str(error)), ctx, param) from error


def _classes(ctx: click.Context, param: click.Parameter, path: Path | None) -> "tuple[ClassRule, ...]":
    """Return the classes of CPU samples in a file of the user's; none without a file."""
    if path is None:
        return ()
    from wallsplit.errors import ClassRulesError
    from wallsplit.text import visible
    from wallsplit.why.samples.class_rules import class_rules

    try:
        return class_rules(path)
    except ClassRulesError as error:
        raise click.BadParameter(visible(str(error)), ctx, param) from error


def _figure_name(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in PICTURES:
        raise click.BadParameter(f"{path.name} ends in neither {' nor '.join(PICTURES)}.", ctx, param)
    return path


class _Analyze(click.Command):
    """A command whose `--summary` may stand alone before a trace: only `github` is a value of it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        following = [*args[1:], ""]
        alone = [arg == "--summary" and after != GITHUB for arg, after in zip(args, following, strict=False)]
        args = [f"--summary={PRINTED}" if is_alone else arg for arg, is_alone in zip(args, alone, strict=True)]
        return super().parse_args(ctx, args)


@click.command(cls=_Analyze)
@click.argument("traces", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--window",
    metavar="W",
    shell_complete=completion.windows,
    callback=options.window,
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
@click.option("--top", default=20, show_default=True, type=options.COUNT, help="Rows of a table people read.")
@click.option(
    "--section",
    "sections",
    metavar="NAME",
    shell_complete=completion.sections,
    multiple=True,
    help="Print that section of the report instead: kernels, idle-time, …; all for every one in brief.",
)
@click.option(
    "--summary",
    type=click.Choice([PRINTED, GITHUB]),
    metavar="[github]",
    help="Print 15 lines of Markdown that stand alone, for a pull request; github: append them to the job's summary "
    "($GITHUB_STEP_SUMMARY).",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_figure_name,
    metavar="FILE",
    help="Also draw the run as a 16:9 picture for a slide: FILE.svg or FILE.png.",
)
@click.option("--dark", is_flag=True, help="Draw --figure on a dark ground.")
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
    type=options.COUNT,
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
    sections: tuple[str, ...],
    summary: str | None,
    figure: Path | None,
    dark: bool,
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
    from wallsplit.analysis import Failure
    from wallsplit.errors import ReportError
    from wallsplit.text import visible

    if figure and len(traces) > 1:
        raise click.UsageError("--figure draws one trace")
    if summary and as_json:
        raise click.UsageError("--summary and --json are two ways to print; give one")
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
    if as_json:
        outputs.print_json(outcomes)
    elif not summary:
        outputs.print_screen(outcomes, top, sections)
    elif summary == PRINTED:
        click.echo(outputs.summaries(outcomes), nl=False)
    sys.stdout.flush()  # what was asked for is there before reports are made, and if they cannot be
    failures = [outcome.message for outcome in outcomes if isinstance(outcome, Failure)]
    written: list[Path] = []
    for writing in (
        partial(outputs.append_summaries, outcomes) if summary == GITHUB else None,
        partial(outputs.draw, outcomes, figure, dark=dark, force=force) if figure else None,
        partial(outputs.write_tables, outcomes, tables, table_format, force=force) if tables else None,
        partial(outputs.write_reports, outcomes, folder, top, force=force) if folder else None,
    ):
        try:
            written += (writing and writing()) or ()
        except ReportError as error:  # the others are written, and it is an exit code of 1
            failures.append(str(error))
    if not (as_json or summary == PRINTED):
        for path in written[-1:]:
            click.echo(f"Report: {visible(str(path))}")
    for message in failures:
        say(message)
    return 1 if failures else 0


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
    from wallsplit.pipeline import analyse, examine
    from wallsplit_scripts.cache import export_of

    try:
        stage(f"{trace.name}: reading", 0.0)
        examined = examine(export_of(trace, nsys))
        stage(f"{trace.name}: explaining", 0.5)
        return analyse(
            examined,
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
