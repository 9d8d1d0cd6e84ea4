"""Promises of the marks: every recorded range is counted, with and without nvtx; one nobody records is nothing."""

import sys

import pytest

from wallsplit_workloads.marks import Marks, RecordedMarks, marks_for


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
    marks = RecordedMarks()
    for _ in range(2):
        with marks("step"), marks("forward"):
            pass
    assert nvtx.calls == ["push step", "push forward", "pop", "pop"] * 2
    assert marks.counts == {"step": 2, "forward": 2}


def test_a_range_ends_where_an_exception_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    nvtx = FakeNvtx()
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)
    with pytest.raises(KeyError), RecordedMarks()("step"):
        raise KeyError
    assert nvtx.calls == ["push step", "pop"]


def test_without_nvtx_ranges_are_only_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nvtx", None)
    marks = RecordedMarks()
    with marks("epoch"):
        marks.push("step")
        marks.pop()
    marks.add({"step": 3})
    assert marks.counts == {"epoch": 1, "step": 4}


@pytest.mark.parametrize(
    ("environment", "records"),
    [
        ({}, False),
        ({"WALLSPLIT_MARKS": ""}, False),
        ({"WALLSPLIT_MARKS": "1"}, True),
        ({"NVTX_INJECTION64_PATH": "/opt/nsys/libToolsInjection64.so"}, True),  # as nsys sets it for whom it traces
    ],
)
def test_marks_are_recorded_only_where_a_profiler_or_wallsplit_asks_for_them(
    environment: dict[str, str], records: bool
) -> None:
    assert marks_for(environment).records is records


def test_where_nothing_records_marks_neither_reach_nvtx_nor_count_nor_make_an_object(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nvtx = FakeNvtx()
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)
    marks = marks_for({})
    with marks("epoch") as entered:
        marks.push("step")
        marks.pop()
    marks.add({"step": 3})
    assert (nvtx.calls, marks.counts, vars(marks), entered) == ([], {}, {}, None)
    assert marks("epoch") is marks("step") is Marks()("data")
