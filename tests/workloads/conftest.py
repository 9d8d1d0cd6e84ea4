import pytest

from wallsplit_workloads.marks import ASKED


@pytest.fixture(autouse=True)
def recorded_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every workload count its marks, as under `wallsplit profile`; a test that wants none says so."""
    monkeypatch.setenv(ASKED, "1")
