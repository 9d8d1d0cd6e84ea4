import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wallsplit.errors import CaptureError
from wallsplit_scripts import nsys


@pytest.fixture
def real_nsys() -> Path:
    """Return an installed nsys; without one skip the test, or fail it where WALLSPLIT_REQUIRE_TOOLS=1."""
    try:
        return nsys.locate()
    except CaptureError as error:
        if os.environ.get("WALLSPLIT_REQUIRE_TOOLS") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture
def no_nsys_chosen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the environment say nothing about nsys."""
    monkeypatch.delenv("WALLSPLIT_NSYS", raising=False)
    yield


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that the test starts find this checkout's packages, installed or not."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
