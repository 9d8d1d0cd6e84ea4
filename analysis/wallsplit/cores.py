"""How many threads work side by side: loops over arrays leave the interpreter to others."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


CORES = min(4, cores())
"""Threads of one analysis; more would wait for each other."""


class Each(Protocol):
    """Does work on each of some items and gives the results in their order, like a thread pool's `map`."""

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
        """Start all of the work; what it raises comes with the result."""


def in_turn(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Give what the work returns for one item after another."""
    return map(work, items)
