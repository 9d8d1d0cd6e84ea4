"""What the tests of the library share."""

from pathlib import Path

import pytest

from builders import TraceBuilder


@pytest.fixture
def build(tmp_path: Path) -> TraceBuilder:
    """Return an empty trace, to be filled by the test."""
    return TraceBuilder(tmp_path / "run.sqlite")
