import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cpu_recordings import CASES, Recorded, record
from wallsplit.errors import CaptureError
from wallsplit_scripts import nsys, sampling


@pytest.fixture(scope="session")
def real_nsys() -> Path:
    """Return an installed nsys; without one skip the test, or fail it where WALLSPLIT_REQUIRE_TOOLS=1."""
    try:
        return nsys.locate()
    except CaptureError as error:
        if os.environ.get("WALLSPLIT_REQUIRE_TOOLS") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture
def can_sample(real_nsys: Path) -> None:
    """Skip the test, saying why, where the kernel lets nobody sample."""
    if refused := sampling.refusal(nsys.find(str(real_nsys))):
        pytest.skip(refused)


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(case, id=name, marks=[pytest.mark.frameworks] if case.framework else [])
        for name, case in CASES.items()
    ],
)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, real_nsys: Path) -> Recorded:
    """Return the recording of a CPU workload, one after the other: made once, since that takes seconds."""
    return record(request.param, tmp_path_factory.mktemp("recorded"), real_nsys)


@pytest.fixture
def no_nsys_chosen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the environment say nothing about nsys."""
    monkeypatch.delenv("WALLSPLIT_NSYS", raising=False)
    yield


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that the test starts find this checkout's packages, installed or not."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
