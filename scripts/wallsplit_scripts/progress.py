"""What is being done, and how much of it is, on a terminal's stderr, once that takes longer than a moment."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

QUIET_SECONDS = 1.0
"""Progress is shown for what takes longer than this."""
_NOBODY: Callable[[str, float], None] = lambda _what, _share: None  # noqa: E731 - a value that is replaced
_listeners = [_NOBODY]
"""Whoever shows progress last; in a worker process nobody does."""


def stage(what: str, share: float) -> None:
    """Tell what begins now, and the share, 0–1, of its trace that is done before it."""
    _listeners[-1](what, share)


@contextmanager
def progress(count: int) -> Iterator[Callable[[str], None]]:
    """Show how much of `count` traces is done; what is yielded is called with the name of each as it begins."""
    if not sys.stderr.isatty():  # Rich takes a while to import
        yield lambda _name: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from wallsplit.text import for_people

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _name: None
        return
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TaskProgressColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task("", total=count)
    begun = 0

    def begin(name: str) -> None:
        nonlocal begun
        bar.update(task, description=for_people(name, 60), completed=begun)
        begun += 1

    def within(what: str, share: float) -> None:
        bar.update(task, description=for_people(what, 60), completed=max(0, begun - 1) + share)

    start = Timer(QUIET_SECONDS, bar.start)
    start.daemon = True
    start.start()
    _listeners.append(within)
    try:
        yield begin
    finally:
        _listeners.pop()
        start.cancel()
        bar.stop()
