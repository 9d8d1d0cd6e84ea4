"""Whether two traces are of one program, so that comparing them tells something."""

from collections.abc import Sequence
from itertools import combinations

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import kernel_summary
from wallsplit.frozen import dataclass
from wallsplit.run.manifest import RunManifest

ALIKE = 0.5
"""Of the kernels of both together, the part that both run."""
MOST_TRACES = 64
"""Pairs are looked for among so many traces at most: every two of them are held against each other."""


def are_of_one_program(one: Analysis, other: Analysis) -> bool:
    """Return whether both manifests name the same workload or command; without them, whether most kernels are the same.

    Programs are not told by the names of their processes: every second one is called python.
    """
    return _are_one(*(_Traits.of(analysis) for analysis in (one, other)))


def pairs_of_one_program(analyses: Sequence[Analysis]) -> tuple[tuple[int, int], ...]:
    """Return the positions of each two traces that are of one program, and no third one with them; in their order."""
    if len(analyses) > MOST_TRACES:
        return ()
    traits = [_Traits.of(analysis) for analysis in analyses]
    alike = [(i, j) for i, j in combinations(range(len(traits)), 2) if _are_one(traits[i], traits[j])]
    partners = [i for pair in alike for i in pair]
    return tuple((i, j) for i, j in alike if partners.count(i) == partners.count(j) == 1)


@dataclass(frozen=True)
class _Traits:
    """What a program is told by."""

    name: str | None
    kernels: frozenset[str]

    @classmethod
    def of(cls, analysis: Analysis) -> "_Traits":
        table = analysis.tables.get(kernel_summary.TABLE.name)
        return cls(_name(analysis.run), frozenset(() if table is None else table["name"]))


def _are_one(first: _Traits, second: _Traits) -> bool:
    if first.name is not None and second.name is not None:
        return first.name == second.name
    both = first.kernels & second.kernels
    return bool(both) and len(both) >= ALIKE * len(first.kernels | second.kernels)


def _name(run: RunManifest | None) -> str | None:
    return (run.workload or run.command) if run else None
