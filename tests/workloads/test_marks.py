"""Promises of the marks: every range is counted, with and without the nvtx package."""

import sys

import pytest

from wallsplit_workloads.marks import Marks


class FakeNvtx:
    """Records what the package would be told."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def push_range(self, name: str) -> None:
        self.calls.append(f"push {name}")

    def pop_range(self) -> None:
        self.calls.append("pop")


def test_ranges_reach_nvtx_nested_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    nvtx = FakeNvtx()
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)
    marks = Marks()
    for _ in range(2):
        with marks("step"), marks("forward"):
            pass
    assert nvtx.calls == ["push step", "push forward", "pop", "pop"] * 2
    assert marks.counts == {"step": 2, "forward": 2}


def test_a_range_ends_where_an_exception_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    nvtx = FakeNvtx()
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)
    with pytest.raises(KeyError), Marks()("step"):
        raise KeyError
    assert nvtx.calls == ["push step", "pop"]


def test_without_nvtx_ranges_are_only_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nvtx", None)
    marks = Marks()
    with marks("epoch"):
        marks.push("step")
        marks.pop()
    marks.add({"step": 3})
    assert marks.counts == {"epoch": 1, "step": 4}
