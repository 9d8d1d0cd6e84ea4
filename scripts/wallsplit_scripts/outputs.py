"""What `analyze` prints and writes of the outcomes of all traces; renderers are imported when they are called."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from wallsplit_scripts.messages import ELSEWHERE
from wallsplit_scripts.progress import progress

if TYPE_CHECKING:
    from rich.console import Console

    from wallsplit.analysis import Analysis, Outcome


def write_tables(
    outcomes: "Sequence[Outcome]", folder: Path, table_format: Literal["csv", "parquet"], *, force: bool
) -> None:
    """Write every table of the analyses into the folder."""
    from wallsplit.report import tables as table_files
    from wallsplit.report.writing import write

    every = [file for a, stem in _named(outcomes) for file in table_files.files(a, stem, table_format)]
    if every:
        write(every, folder, force=force)


def write_reports(outcomes: "Sequence[Outcome]", folder: Path, top: int, *, force: bool) -> list[Path]:
    """Write the reports, and their index if there are several, and return the pages a person opens first."""
    from wallsplit.errors import ReportError
    from wallsplit.report import files as report_files
    from wallsplit.report.build import report
    from wallsplit.report.index import STEM, index
    from wallsplit.report.writing import File, write

    named = _named(outcomes)
    if not named:
        return []
    pages: list[File] = []
    with progress(len(named)) as begin:
        for a, stem in named:
            begin(f"{stem}: writing its report")
            pages += report_files.files(report(a, top), stem)
    if len(outcomes) > 1:
        analyses, stems = zip(*named, strict=True)
        pages += report_files.files(index(analyses, stems, _failures(outcomes)), STEM)
    try:
        paths = write(pages, folder, force=force)
    except ReportError as error:
        raise ReportError(f"{error} ({ELSEWHERE})") from error
    return [path for path in paths if path.suffix == ".html"]


def _named(outcomes: "Sequence[Outcome]") -> "list[tuple[Analysis, str]]":
    """Return each analysis with the stem of its files."""
    from wallsplit.analysis import Analysis
    from wallsplit.report import files as report_files

    analyses = [outcome for outcome in outcomes if isinstance(outcome, Analysis)]
    return list(zip(analyses, report_files.stems([analysis.path for analysis in analyses]), strict=True))


def _failures(outcomes: "Sequence[Outcome]") -> list[tuple[str, str]]:
    from wallsplit.analysis import Failure

    return [(outcome.path, outcome.message) for outcome in outcomes if isinstance(outcome, Failure)]


def print_json(outcomes: "Sequence[Outcome]") -> None:
    """Print the document of all outcomes."""
    from wallsplit.report import json

    click.echo(json.text(json.document(outcomes)), nl=False)


def summaries(outcomes: "Sequence[Outcome]") -> str:
    """Return the summaries of the analyses, one after the other, as Markdown."""
    from wallsplit.analysis import Analysis
    from wallsplit.report.summary import summary

    return "\n".join(summary(outcome) for outcome in outcomes if isinstance(outcome, Analysis))


def append_summaries(outcomes: "Sequence[Outcome]") -> None:
    """Append the summaries to the page of the GitHub job that this runs in."""
    from wallsplit.errors import ReportError

    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if not page:
        raise ReportError("--summary github: GITHUB_STEP_SUMMARY is not set, as it is in a job of GitHub Actions")
    try:
        with Path(page).open("a", encoding="utf-8") as file:
            file.write(f"{summaries(outcomes)}\n")
    except OSError as error:
        raise ReportError(f"{page}: cannot append the summary ({error.strerror})") from None


def draw(outcomes: "Sequence[Outcome]", path: Path, *, dark: bool, force: bool) -> None:
    """Write the picture of the one trace."""
    from wallsplit import __version__
    from wallsplit.analysis import Analysis
    from wallsplit.report.picture import picture
    from wallsplit.report.writing import File, write

    for outcome in outcomes:
        if isinstance(outcome, Analysis):
            kind = path.suffix.lower().removeprefix(".")
            mark = f"wallsplit {__version__}".encode()
            write(
                [File(path.name, picture(outcome, "dark" if dark else "light", kind), mark)], path.parent, force=force
            )


def print_screen(outcomes: "Sequence[Outcome]", top: int, sections: Sequence[str]) -> None:
    """Print the first screen of one trace, a line or two of each of several, worst first, or the sections asked for."""
    from rich.console import Console
    from rich.text import Text

    from wallsplit.analysis import Analysis
    from wallsplit.errors import SectionError
    from wallsplit.report.terminal import terminal
    from wallsplit.text import visible

    console = Console(highlight=False, markup=False, emoji=False)
    analyses = [outcome for outcome in outcomes if isinstance(outcome, Analysis)]
    if sections:
        from wallsplit.report.build import report  # all sections and figures, which the first screen has none of

        for analysis, title in zip(analyses, _titles(analyses), strict=True):
            try:
                shown = terminal(report(analysis, top), console, sections)
            except SectionError as error:
                raise error if len(outcomes) == 1 else SectionError(f"{visible(title)}: {error}") from None
            if len(outcomes) > 1:
                console.print(Text(visible(title), "bold"), soft_wrap=True)
            console.print(shown)
    elif len(outcomes) > 1:
        _print_overview(analyses, console)
        _say_if_of_one_program(analyses if len(analyses) == len(outcomes) else ())
    else:
        from wallsplit.report.opening import opening

        for analysis in analyses:
            console.print(terminal(opening(analysis), console))


def _print_overview(analyses: "Sequence[Analysis]", console: "Console") -> None:
    """Print a line or two for each of several traces, the worst first."""
    from wallsplit import units
    from wallsplit.report.index import worst_first
    from wallsplit.report.opening import opening
    from wallsplit.report.terminal_list import overview

    ordered = [analyses[i] for i in worst_first(analyses)]
    walls = [units.ns(a.window.wall_ns) if a.window else "-" for a in ordered]
    reports = [replace(opening(a), title=title) for a, title in zip(ordered, _titles(ordered), strict=True)]
    console.print(overview(list(zip(reports, walls, strict=True)), console))


def _say_if_of_one_program(analyses: "Sequence[Analysis]") -> None:
    """Print how to compare two traces of one program."""
    from wallsplit.comparison.program import are_of_one_program
    from wallsplit.text import visible

    if len(analyses) == 2 and are_of_one_program(*analyses):
        names = " ".join(visible(shlex.quote(analysis.path)) for analysis in analyses)
        click.echo(f"Both are of one program: wallsplit compare {names}")


def _titles(analyses: "Sequence[Analysis]") -> list[str]:
    """Return the name of each trace's file, with its folder before it where several have that name."""
    from wallsplit.text import file_name

    names = [file_name(analysis.path) for analysis in analyses]
    return [
        f"{file_name(str(Path(analysis.path).absolute().parent))}/{name}" if names.count(name) > 1 else name
        for analysis, name in zip(analyses, names, strict=True)
    ]
