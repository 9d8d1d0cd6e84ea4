"""NVTX ranges from a workload, and how many of each a capture should hold."""

import importlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self


class Marks:
    """Pushes and pops NVTX ranges by name through the `nvtx` package where it is installed, and counts them always.

    Any thread may do so: ranges nest within a thread.
    """

    def __init__(self) -> None:
        self._counting = threading.Lock()
        self._pushed: Counter[str] = Counter()
        self._ranges: dict[str, _Range] = {}
        self._push, self._pop = _nvtx()

    def __call__(self, name: str) -> "_Range":
        """Return the range of that name as a context manager, to be entered any number of times."""
        found = self._ranges.get(name)
        if found is None:
            found = self._ranges[name] = _Range(self, name)
        return found

    def push(self, name: str) -> None:
        """Open a range on this thread."""
        with self._counting:
            self._pushed[name] += 1
        self._push(name)

    def pop(self) -> None:
        """Close the range opened last on this thread."""
        self._pop()

    def add(self, counts: Mapping[str, int]) -> None:
        """Count ranges that another process of this run pushed."""
        self._pushed.update(counts)

    @property
    def counts(self) -> dict[str, int]:
        """How many ranges were pushed, by name."""
        return dict(self._pushed)


class _Range:
    """One name as a context manager; no generator, for it may be entered 10,000 times a second."""

    def __init__(self, marks: Marks, name: str) -> None:
        self._marks, self._name = marks, name

    def __enter__(self) -> Self:
        self._marks.push(self._name)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._marks.pop()


def _nvtx() -> tuple[Callable[[str], object], Callable[[], object]]:
    try:
        nvtx = importlib.import_module("nvtx")
    except ImportError:
        return (lambda name: None), (lambda: None)
    return nvtx.push_range, nvtx.pop_range
