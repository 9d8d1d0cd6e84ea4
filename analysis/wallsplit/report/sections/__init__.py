"""The sections of a report, one per file, in reading order; None where there is nothing to say."""

from collections.abc import Callable

from wallsplit.analysis import Analysis
from wallsplit.report.document import Section
from wallsplit.report.sections.anomalies import anomalies
from wallsplit.report.sections.api import api
from wallsplit.report.sections.arithmetic import arithmetic
from wallsplit.report.sections.communication import communication
from wallsplit.report.sections.cpu_samples import cpu_samples
from wallsplit.report.sections.findings import findings
from wallsplit.report.sections.gpu_use import gpu_use
from wallsplit.report.sections.graphs import graph_replays
from wallsplit.report.sections.idle import idle
from wallsplit.report.sections.kernels import kernels
from wallsplit.report.sections.launches import launches
from wallsplit.report.sections.launching import launching
from wallsplit.report.sections.ledger import ledger
from wallsplit.report.sections.memory import memory
from wallsplit.report.sections.messages import messages
from wallsplit.report.sections.nvtx import nvtx, nvtx_projection
from wallsplit.report.sections.osrt import osrt
from wallsplit.report.sections.reading import reading
from wallsplit.report.sections.remarks import assumptions, further_remarks, remarks
from wallsplit.report.sections.run import run
from wallsplit.report.sections.steps import steps
from wallsplit.report.sections.waiting import waiting
from wallsplit.report.sections.where import where

SECTIONS: tuple[Callable[[Analysis, int], Section | None], ...] = (
    where,
    run,
    remarks,
    findings,
    ledger,
    steps,
    idle,
    gpu_use,
    arithmetic,
    cpu_samples,
    api,
    waiting,
    launching,
    launches,
    communication,
    kernels,
    memory,
    nvtx,
    nvtx_projection,
    osrt,
    graph_replays,
    anomalies,
    further_remarks,
    messages,
    assumptions,
    reading,
)
"""An analysis and the number of rows people want to read of a long table: a section."""
