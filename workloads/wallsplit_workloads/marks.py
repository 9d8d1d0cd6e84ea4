"""NVTX ranges from a workload, and how many of each a capture should hold; nothing at all where nobody records them."""

import importlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Final, Self

ASKED: Final = "WALLSPLIT_MARKS"
"""`wallsplit profile` sets it for the program it records."""
_RECORDERS: Final = (ASKED, "NVTX_INJECTION64_PATH")  # the second is how NVTX itself finds a tool, such as nsys
_NOTHING: Final = nullcontext()


class Marks:
    """Ranges that nobody records: no lock, no count, no call, so that an unprofiled run is the program alone."""

    records = False

    def __call__(self, name: str) -> AbstractContextManager[object]:
        """Return the range of that name as a context manager, to be entered any number of times."""
        return _NOTHING

    def push(self, name: str) -> None:
        """Open a range on this thread."""

    def pop(self) -> None:
        """Close the range opened last on this thread."""

    def add(self, counts: Mapping[str, int]) -> None:
        """Count ranges that another process of this run pushed."""

    @property
    def counts(self) -> dict[str, int]:
        """How many ranges were pushed, by name."""
        return {}


class RecordedMarks(Marks):
    """Pushes and pops NVTX ranges by name through the `nvtx` package where it is installed, and counts them.

    Any thread may do so: ranges nest within a thread.
    """

    records = True

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


def marks_for(environment: Mapping[str, str]) -> Marks:
    """Return the marks of a process with this environment: recorded where a profiler or `wallsplit` asks for them."""
    return RecordedMarks() if any(environment.get(name) for name in _RECORDERS) else Marks()


class _Range:
    """One name as a context manager; no generator, for it may be entered 10,000 times a second."""

    def __init__(self, marks: RecordedMarks, name: str) -> None:
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
