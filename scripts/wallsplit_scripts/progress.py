"""Which trace is being read, on a terminal's stderr, once that takes longer than a moment."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

QUIET_SECONDS = 1.0
"""Progress is shown for what takes longer than this."""


@contextmanager
def progress(count: int) -> Iterator[Callable[[str], None]]:
    """Show how many of `count` traces are done; what is yielded is called with the name of each as it begins."""
    if not sys.stderr.isatty():  # Rich takes a while to import
        yield lambda _name: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from wallsplit.text import for_people

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _name: None
        return
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), MofNCompleteColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task("", total=count)
    start = Timer(QUIET_SECONDS, bar.start)
    start.daemon = True
    start.start()
    try:
        yield lambda name: bar.update(task, description=for_people(name, 60), advance=1)
    finally:
        start.cancel()
        bar.stop()
