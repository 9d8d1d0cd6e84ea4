"""Whether two traces are of one program, so that comparing them tells something."""

from wallsplit.analysis import Analysis
from wallsplit.breakdowns import kernel_summary
from wallsplit.run.manifest import RunManifest

ALIKE = 0.5
"""Of the kernels of both together, the part that both run."""


def are_of_one_program(one: Analysis, other: Analysis) -> bool:
    """Return whether both manifests name the same workload or command; without them, whether most kernels are the same.

    Programs are not told by the names of their processes: every second one is called python.
    """
    names = _name(one.run), _name(other.run)
    if None not in names:
        return names[0] == names[1]
    kernels = _kernels(one), _kernels(other)
    both = kernels[0] & kernels[1]
    return bool(both) and len(both) >= ALIKE * len(kernels[0] | kernels[1])


def _name(run: RunManifest | None) -> str | None:
    return (run.workload or run.command) if run else None


def _kernels(analysis: Analysis) -> set[str]:
    table = analysis.tables.get(kernel_summary.TABLE.name)
    return set() if table is None else set(table["name"])
