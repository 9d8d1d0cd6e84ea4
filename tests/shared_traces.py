"""Where real traces and their oracles lie, if this machine has them; they are never part of the repository."""

import os
from pathlib import Path

import pytest

_folder = Path(os.environ.get("WALLSPLIT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
SHARED: Path | None = _folder if (_folder / "traces").is_dir() else None
BROKEN = ("corrupt_truncated", "corrupt_zeroed_header", "not_a_database", "nvprof_nvvp_t4")
TRACES: dict[str, Path] = {
    path.stem: path
    for path in (sorted((SHARED / "traces").glob("*.sqlite")) if SHARED else [])
    if path.stem not in BROKEN
}
SAMPLED: Path | None = SHARED / "samples" if SHARED else None
"""Captures of planted programs with CPU samples, what their own clocks said, and what follows of them."""
ORACLES: Path | None = SHARED / "oracle" if SHARED else None
CASES: dict[str, Path] = {path.stem: path for path in (sorted((SHARED / "cases").glob("*.sqlite")) if SHARED else [])}
CASE_ORACLES: Path = SHARED / "cases" / "oracle" if SHARED else Path()

needs_shared_traces = pytest.mark.skipif(SHARED is None, reason="no folder of shared traces beside the repository")
