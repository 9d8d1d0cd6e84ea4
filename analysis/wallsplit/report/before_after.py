"""Two traces of one program in one row of the index."""

import re
from collections.abc import Iterator, Sequence

from wallsplit.analysis import Analysis
from wallsplit.comparison.program import pairs_of_one_program
from wallsplit.report.document import Cell, Column, Link, Table
from wallsplit.report.trace_row import mean_busy, steps_per_s, trace_name

_WORDS = re.compile(r"(?:^|[_.-])(before|after|old|new|base|baseline|tuned)(?=$|[_.-])", re.IGNORECASE)
_LATER = ("after", "new", "tuned")

Trace = tuple[Analysis, str]
"""With the stem of its files."""


def before_after(analyses: Sequence[Analysis], stems: Sequence[str]) -> Table | None:
    """Return a row for each two traces of one program, and for those that their names call before and after.

    Where the names do not tell which was first, it is the one given first. None without such a pair.
    """
    traces = list(zip(analyses, stems, strict=True))
    named = list(_by_name(traces))
    paired = {stem for pair in named for _, stem in pair}
    others = [trace for trace in traces if trace[1] not in paired]
    alike = [(others[i], others[j]) for i, j in pairs_of_one_program([analysis for analysis, _ in others])]
    rows = [_row(*sorted(pair, key=_is_later)) for pair in (*named, *alike)]
    columns = (
        Column("program"),
        Column("before"),
        Column("after"),
        Column("wall, before", "ns"),
        Column("wall, after", "ns"),
        Column("GPU busy, before", "ratio", "not measured"),
        Column("GPU busy, after", "ratio", "not measured"),
        Column("steps per s, before", "number", "–"),
        Column("steps per s, after", "number", "–"),
    )
    return Table("Before and after", columns, tuple(rows), len(rows), is_stacked=True) if rows else None


def _by_name(traces: Sequence[Trace]) -> Iterator[tuple[Trace, Trace]]:
    """Give the pairs whose names differ in before and after, or the like, only."""
    groups: dict[str, list[Trace]] = {}
    for trace in traces:
        if _WORDS.search(trace_name(trace[0])):
            groups.setdefault(_without_word(trace), []).append(trace)
    for group in groups.values():
        if len(group) == 2 and len(set(map(_is_later, group))) == 2:
            yield group[0], group[1]


def _is_later(trace: Trace) -> bool:
    word = _WORDS.search(trace_name(trace[0]))
    return word is not None and word[1].lower() in _LATER


def _without_word(trace: Trace) -> str:
    return _WORDS.sub("", trace_name(trace[0]), count=1)


def _row(before: Trace, after: Trace) -> tuple[Cell, ...]:
    analyses = [analysis for analysis, _ in (before, after)]
    walls = [analysis.window.wall_ns if analysis.window else None for analysis in analyses]
    if _without_word(before) == _without_word(after):
        program, links = _without_word(before), [Link("before", before[1]), Link("after", after[1])]
    else:
        program, links = _program(analyses[0]), [Link(trace_name(analysis), stem) for analysis, stem in (before, after)]
    return (program, *links, *walls, *map(mean_busy, analyses), *map(steps_per_s, analyses))


def _program(analysis: Analysis) -> str:
    """Return what the manifest calls the program; else that its kernels are known."""
    run = analysis.run
    return (run and (run.workload or run.command)) or "the same kernels"
