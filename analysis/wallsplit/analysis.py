"""The whole analysis of one trace as one value."""

from dataclasses import field
from pathlib import Path

import polars as pl

from wallsplit.arithmetic.work import LedgerArithmetic
from wallsplit.diagnosis.explanation import Explained
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.model.not_used import NotUsedTable
from wallsplit.note import Note
from wallsplit.run.manifest import CPU, RunManifest
from wallsplit.run.nvml import NvmlSummary
from wallsplit.run.perturbation import Perturbation
from wallsplit.text import file_name, for_people


@dataclass(frozen=True, repr=False)
class Analysis:
    """One trace, analysed: everything a report shows, in numbers; no formatting."""

    path: str  # as the user gave it
    size_bytes: int
    format: str  # nsys-sqlite, nsys-parquetdir, nsys-arrowdir
    headline: str
    nsys_version: str | None
    schema_version: str | None
    gpus: pl.DataFrame  # schema.GPU_USE, physical GPUs in use
    processes: pl.DataFrame  # schema.PROCESSES, processes with a ledger
    window: Window | None
    window_is_explicit: bool  # then the tables hold the rows that overlap it, at full length
    ledgers: tuple[Ledger, ...]
    tables: dict[str, pl.DataFrame | None]  # by name, in the order of BREAKDOWNS; None = cannot be had
    notes: tuple[Note, ...]
    run: RunManifest | None = None  # the manifest beside the trace, if it was written for it
    arithmetic: tuple[LedgerArithmetic, ...] | None = None  # one per ledger; None = nothing is known of FLOPs
    perturbation: Perturbation | None = None  # None = the manifest has no runs without the profiler
    nvml: NvmlSummary | None = None
    reconstructed: bool = False  # the trace is our own reconstruction: every output carries a banner
    assumptions: tuple[str, ...] = field(default=())
    explained: Explained | None = None  # None where the window names many ranges
    not_used: tuple[NotUsedTable, ...] = ()  # raw tables with rows that no number came from

    @classmethod
    def from_json(cls, source: str | Path) -> "Analysis":
        """Return the analysis that `analyze --json` printed, given as text or as the path of a file.

        Raises:
            SavedAnalysisError: it cannot be read, is of another schema version, or is not of exactly one trace.
        """
        from wallsplit.report.from_json import analysis

        return analysis(source)

    @property
    def asked_for_cpu(self) -> bool:
        """Whether the run was to compute on the CPU, as its manifest says: then no GPU is missed."""
        return self.run is not None and self.run.device == CPU

    def ledger_frame(self) -> pl.DataFrame:
        """Return one row per ledger, its accounts as columns in ns; null = not measured."""
        from wallsplit.report.tables import ledgers

        return ledgers(self)

    def __repr__(self) -> str:
        """Return the trace's name and the headline in one line: the tables may have millions of rows."""
        return f"<Analysis of {for_people(file_name(self.path))}: {self.headline}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the first screen of its report."""
        from wallsplit.report.build import report
        from wallsplit.report.html import first_screen

        return first_screen(report(self))


@dataclass(frozen=True)
class Failure:
    """A trace that could not be analysed, and why, in one line."""

    path: str
    message: str


Outcome = Analysis | Failure
