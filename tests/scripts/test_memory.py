"""What is set for the allocators."""

import os

import pytest

from wallsplit_scripts.memory import return_large_blocks


@pytest.mark.parametrize(("name", "setting"), [("_RJEM_MALLOC_CONF", "narenas:1"), ("OPENBLAS_NUM_THREADS", "2")])
def test_what_a_user_set_stays(name: str, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, setting)
    return_large_blocks()
    assert os.environ[name] == setting


def test_a_c_library_without_the_setting_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_RJEM_MALLOC_CONF", "")

    def without_mallopt(_name: None) -> object:
        return object()

    monkeypatch.setattr("ctypes.CDLL", without_mallopt)
    return_large_blocks()
