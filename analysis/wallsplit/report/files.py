"""The files of a report, ready to be written."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath

from wallsplit.report import html, markdown
from wallsplit.report.document import Report
from wallsplit.report.index import STEM
from wallsplit.report.writing import File
from wallsplit.text import file_stem


def files(report: Report, stem: str) -> tuple[File, ...]:
    """Return a report's HTML page, its Markdown page and that page's figures."""
    svgs = [(f"{stem}.{figure.name}.svg", figure.svg, markdown.MARK) for figure in markdown.figures(report)]
    pages = [
        (f"{stem}.html", html.html(report), html.MARK),
        (f"{stem}.md", markdown.markdown(report, stem), markdown.MARK),
    ]
    return tuple(File(name, text.encode(), mark.encode()) for name, text, mark in (*pages, *svgs))


def stems(paths: Sequence[str]) -> tuple[str, ...]:
    """Return a distinct file stem for the reports of each trace.

    It is the trace's own, with its folder's name in front where two would be the same or one would be the index's, and
    a number at the end where even that does not tell them apart. File systems may ignore case, so case tells nothing.
    """
    plain = [file_stem(PurePath(path).stem) for path in paths]
    counts = Counter(stem.casefold() for stem in plain)
    result: list[str] = []
    taken = {STEM}
    for path, stem in zip(paths, plain, strict=True):
        if counts[stem.casefold()] > 1 or stem.casefold() == STEM:
            stem = file_stem(f"{Path(path).absolute().parent.name}-{stem}")
        result.append(_untaken(stem, taken))
        taken.add(result[-1].casefold())
    return tuple(result)


def _untaken(stem: str, taken: set[str]) -> str:
    numbered = (f"{stem}-{n}" for n in range(2, len(taken) + 3))
    return next(name for name in (stem, *numbered) if name.casefold() not in taken)
