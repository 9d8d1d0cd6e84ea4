"""How this process gives memory back."""

import ctypes
import os
from contextlib import suppress

_LARGE_BYTES = 32 << 20
_SPARE_BYTES = 128 << 20
_MALLOPT = (  # malloc.h
    (-8, 1),  # M_ARENA_MAX: one heap for all threads, so that one uses again what another freed
    (-3, _LARGE_BYTES),  # M_MMAP_THRESHOLD: larger blocks are returned when freed, whatever was freed before
    (-1, _SPARE_BYTES),  # M_TRIM_THRESHOLD: so much is kept of what smaller ones leave free
)
_SETTINGS = {
    "_RJEM_MALLOC_CONF": "thp:always,dirty_decay_ms:400,muzzy_decay_ms:0",
    "OPENBLAS_NUM_THREADS": "1",  # NumPy's: no matrix is multiplied here, and its threads turn idly when they start
}


def return_large_blocks() -> None:
    """Have freed memory go back to the system soon; to be called before NumPy and Polars are imported.

    Both allocators keep freed blocks for later, glibc's and, in Polars, jemalloc: with columns of megabytes the peak of
    a large trace is a fifth higher. But the system clears every page it hands out, which was a third of the processor
    time of such a trace: so the heap keeps some, huge pages spare faults, and what Polars frees waits for a moment.
    """
    for name, setting in _SETTINGS.items():
        os.environ.setdefault(name, setting)
    with suppress(OSError, AttributeError, TypeError):  # other C libraries have no such setting, and need none
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in _MALLOPT:
            mallopt(parameter, value)
