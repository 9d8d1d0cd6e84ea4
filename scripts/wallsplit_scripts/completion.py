"""What a shell may complete (docs/cli.md): names of workloads, windows and sections."""

from collections.abc import Sequence
from pathlib import Path

import click

MOST = 200
"""Names offered: more are no help."""


def windows(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the windows that the traces named so far have: the fixed ones, and their NVTX ranges."""
    fixed = ["cuda", "nvtx", "capture", "steady"]
    traces = [*(ctx.params.get("traces") or ()), *ctx.args]  # behind an option without its value they are yet unread
    ranges = [f"nvtx:{name}" for name in _ranges(traces) if name.isprintable()]
    return [name for name in (*fixed, *ranges) if name.startswith(incomplete)][:MOST]


def _ranges(traces: Sequence[str | Path]) -> list[str]:
    """Return the names of the first trace's NVTX ranges, the most frequent first; none where it cannot be read."""
    from wallsplit.errors import WallsplitError
    from wallsplit.model import load
    from wallsplit.trace import Trace

    if not traces:
        return []
    try:
        model = load(Trace.open(Path(traces[0])))
    except WallsplitError:
        return []
    counts = model.nvtx.group_by("range").len().sort("len", "range", descending=[True, False])
    return [str(name) for name in model.names.text(counts["range"])]


def workloads(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the built-in workloads."""
    from wallsplit_workloads import WORKLOADS

    return [workload.name for workload in WORKLOADS if workload.name.startswith(incomplete)]


def sections(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return what sections of a report are called."""
    from wallsplit.report.terminal import ALL, SECTION_NAMES

    return [name for name in (*SECTION_NAMES, ALL) if name.startswith(incomplete)]
