"""What docs/the-study.md says of our own measurements, made from them: the text between its `measured` comments.

A block is a function from a study to Markdown, a line in `BLOCKS`, and a pair of comments in the page.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from wallsplit.errors import ReportError
from wallsplit.report.markdown import escape
from wallsplit_study.page import r1, r2, surface
from wallsplit_study.page.text import ABSENT, Study, paragraph

_LIBRARIES: Final = ("python", "numpy", "tensorflow-cpu", "tensorflow", "keras", "jax", "torch", "gensim")
_MARKED = re.compile(r"<!-- measured: (?P<name>[\w-]+) -->\n.*?<!-- end -->\n", re.DOTALL)


def rewritten(page: str, study: Study) -> str:
    """Return the page with every block between its comments made anew.

    Raises:
        ReportError: the page names a block there is none of, or lacks one.
    """
    named = [match["name"] for match in _MARKED.finditer(page)]
    if sorted(named) != sorted(BLOCKS):
        odd = ", ".join(sorted(set(named) ^ set(BLOCKS))) or "a block twice"
        raise ReportError(f"the page of the study: its measured blocks are not those of page/blocks.py ({odd})")
    return _MARKED.sub(
        lambda match: f"<!-- measured: {match['name']} -->\n{BLOCKS[match['name']](study)}\n<!-- end -->\n", page
    )


_IMAGES: Final = {
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
    "synthetic": "images made up in MNIST's shapes, as no data set was there",
}
"""What the images were, by the source in a manifest."""


def setup(study: Study) -> str:
    """Return what was measured on which machine, how often, and for how long."""
    runs = study.runs
    cpu = next((run.cpu for run in reversed(runs) if run.cpu), None)
    minutes = sum(run.wall_ns or 0 for run in runs) / 60e9
    versions: dict[str, str] = {}
    for run in runs:
        versions.update(run.versions)
    named = ", ".join(f"{name} {versions[name]}" for name in _LIBRARIES if name in versions)
    repeats = max((outcome.cell.repeat for outcome in study.outcomes), default=0)
    sources = (run.data.source for run in runs if run.data)
    data = next((_IMAGES[source] for source in sources if source in _IMAGES), ABSENT)
    where = f"{cpu.physical_cores} cores of {escape(cpu.model or ABSENT)}" if cpu else "an unknown processor"
    return paragraph(
        f"These are {len(runs)} runs, {minutes:.0f} minutes of computing, on {where} ({named}; {data}). Figures are "
        f"medians of {repeats} repeats, which took turns."
    )


BLOCKS: Final[Mapping[str, Callable[[Study], str]]] = {
    "setup": setup,
    "epochs": r1.epochs_by_batch,
    "taxes": r1.taxes,
    "first-epochs": r1.first_epochs,
    "shape": r1.shape,
    "phases": r1.phases,
    "steps": r1.steps,
    "search": r1.searches,
    "items": r2.items,
    "item-cost": r2.item_cost,
    "forward": r2.forward,
    "causes": r2.causes,
    "word2vec": r2.word2vec,
    "break-even": surface.break_even,
    "word2vec-bounds": surface.word2vec_bounds,
    "end-to-end": surface.end_to_end,
    "latency": surface.latency,
}
