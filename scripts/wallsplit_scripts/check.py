"""`wallsplit check`: budgets against traces; the exit code tells whether they are kept."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wallsplit_scripts.compare import measured_traces
from wallsplit_scripts.memory import return_large_blocks
from wallsplit_scripts.messages import say, tell

if TYPE_CHECKING:
    from wallsplit.comparison.check.budgets import Budgets
    from wallsplit.comparison.check.judging import Judgement
    from wallsplit.comparison.repeats import Repeat

CONFIG = Path("wallsplit.toml")
CANNOT_TELL = 2
"""Exit code: some budget is unknown, or nothing could be checked at all."""
GITHUB_SUMMARY = "GITHUB_STEP_SUMMARY"


@click.command()
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    default=CONFIG,
    show_default=True,
    metavar="FILE",
    help="The budgets, as TOML.",
)
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Also write JUnit's XML there.")
@click.option(
    "--summary",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write Markdown there; $GITHUB_STEP_SUMMARY is added to.",
)
@click.option(
    "--github",
    is_flag=True,
    help="Also print GitHub's annotations.  [default: where GITHUB_ACTIONS is true]",
)
@click.option(
    "--write-baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what the traces' figures are there, and judge nothing.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the machine-readable document instead.")
@click.option("--force", is_flag=True, help="Replace files that wallsplit did not write.")
@click.option("--nsys", metavar="PATH", help="The nsys that exports reports (.nsys-rep). Default: the one found.")
def check(
    traces: tuple[str, ...],
    config: Path,
    junit: Path | None,
    summary: Path | None,
    github: bool,
    write_baseline: Path | None,
    as_json: bool,
    force: bool,
    nsys: str | None,
) -> int:
    """Say whether TRACES, repeats of one program, keep the budgets in wallsplit.toml.

    TRACES are as for compare. Exit code: 0 all kept, 1 a budget broken, 2 something unknown, or nothing to check.
    docs/ci.md shows budgets, baselines and a workflow.
    """
    return_large_blocks()
    from wallsplit.comparison.check import budgets
    from wallsplit.errors import WallsplitError

    try:
        found = budgets.read(config)
        repeats, per = _repeats(traces, found, nsys)
        if write_baseline:
            _write_baseline(found, repeats, per, write_baseline, force=force)
            return 0
        judgements, warnings = _judged(found, repeats, per)
        _write(judgements, warnings, junit, summary, force=force)
    except WallsplitError as error:
        say(str(error))
        return CANNOT_TELL
    return _tell(judgements, warnings, per, repeats, github=github, as_json=as_json)


def _repeats(traces: Sequence[str], found: "Budgets", nsys: str | None) -> "tuple[list[Repeat], str]":
    """Return every trace measured, and per what: that which `auto` stands for, too."""
    from wallsplit.comparison.sides import files_of
    from wallsplit.comparison.units import AUTO, choose

    paths = [path for argument in traces for path in files_of(argument)]
    measured = measured_traces(paths, found.per, found.window, nsys)
    per = choose(lambda one: all(one in trace for trace in measured)) if found.per == AUTO else found.per
    return [trace[per] for trace in measured], per


def _judged(found: "Budgets", repeats: "Sequence[Repeat]", per: str) -> "tuple[list[Judgement], list[str]]":
    from wallsplit.comparison.check import baseline
    from wallsplit.comparison.check.judging import judge, other_machine
    from wallsplit.errors import BudgetError

    earlier = None
    if found.baseline and any(budget.regression for budget in found.budgets):
        earlier = baseline.read(found.baseline)
        if earlier.per != per:
            raise BudgetError(
                f"{found.baseline}: the baseline is per {earlier.per}, the check per {per}; "
                "write it anew with --write-baseline"
            )
    warning = other_machine(repeats, earlier) if earlier else None
    return [judge(budget, repeats, earlier) for budget in found.budgets], [warning] if warning else []


def _write_baseline(found: "Budgets", repeats: "Sequence[Repeat]", per: str, path: Path, *, force: bool) -> None:
    from wallsplit.comparison.check import baseline
    from wallsplit.report.writing import File, write
    from wallsplit.text import visible
    from wallsplit.words.amounts import counted

    figures = baseline.baseline(found.budgets, repeats, per)
    content = baseline.written(figures).encode()
    write([File(path.name, content, baseline.MARK.encode())], path.parent, force=force)
    tell(f"Baseline of {counted(len(repeats), 'run')}: {visible(str(path))}\n")
    for budget in found.budgets:
        if budget.regression and budget.figure not in figures.figures:
            say(f"{budget.figure}: is not measured in every trace, and so not in the baseline")


def _write(
    judgements: "Sequence[Judgement]", warnings: Sequence[str], junit: Path | None, summary: Path | None, *, force: bool
) -> None:
    from wallsplit.errors import ReportError
    from wallsplit.report import check_outputs
    from wallsplit.report.writing import File, write

    if junit:
        xml = check_outputs.junit(judgements).encode()
        write([File(junit.name, xml, check_outputs.JUNIT_MARK.encode())], junit.parent, force=force)
    if summary:
        text = check_outputs.summary(judgements, warnings).encode()
        if str(summary) == os.environ.get(GITHUB_SUMMARY):  # other steps have written there, too
            try:
                with summary.open("ab") as file:
                    file.write(text)
            except OSError as error:
                raise ReportError(f"{summary}: cannot be written to ({error.strerror})") from error
        else:
            write([File(summary.name, text, check_outputs.SUMMARY_MARK.encode())], summary.parent, force=force)


def _tell(
    judgements: "Sequence[Judgement]",
    warnings: Sequence[str],
    per: str,
    repeats: "Sequence[Repeat]",
    *,
    github: bool,
    as_json: bool,
) -> int:
    """Print what became of the budgets and return the exit code."""
    from wallsplit.report import check_outputs

    if as_json:
        tell(check_outputs.document(judgements, per, [repeat.path for repeat in repeats], warnings))
    else:
        told = check_outputs.lines(judgements, warnings)
        if github or os.environ.get("GITHUB_ACTIONS") == "true":
            told += check_outputs.annotations(judgements, warnings)
        tell("".join(f"{line}\n" for line in told))
    return check_outputs.exit_code(judgements)
