"""Whether twice the input is twice the work: counted in lines executed, never in seconds."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_executed(work: Callable[[], object]) -> int:
    """Return how many lines of Python a piece of work executes, each turn of a loop counted."""
    count = 0

    def on_line(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return on_line

    before = sys.gettrace()
    sys.settrace(on_line)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def is_linear(work: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Return whether twice the size takes at most a little more than twice the lines."""
    work(1)()  # what is imported or made once is not counted
    once, twice = (lines_executed(work(n)) for n in (size, 2 * size))
    return twice <= 2.3 * once
