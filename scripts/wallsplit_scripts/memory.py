"""How this process gives memory back."""

import ctypes
import os
from contextlib import suppress

_LARGE_BYTES = 8 << 20
_MALLOPT = (  # malloc.h
    (-8, 1),  # M_ARENA_MAX: one heap for all threads, so that one uses again what another freed
    (-3, _LARGE_BYTES),  # M_MMAP_THRESHOLD: larger blocks are returned when freed; by default up to 32 MiB are kept
    (-1, _LARGE_BYTES),  # M_TRIM_THRESHOLD
)


def return_large_blocks() -> None:
    """Have freed memory go back to the system soon; to be called before Polars is imported.

    Both allocators keep freed blocks for later, glibc's and, in Polars, jemalloc: with columns of megabytes the peak of
    a large trace is a fifth higher. Huge pages, and a moment's delay, spare most of the page faults this costs.
    """
    os.environ.setdefault("_RJEM_MALLOC_CONF", "thp:always,dirty_decay_ms:100,muzzy_decay_ms:0")
    with suppress(OSError, AttributeError, TypeError):  # other C libraries have no such setting, and need none
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in _MALLOPT:
            mallopt(parameter, value)
