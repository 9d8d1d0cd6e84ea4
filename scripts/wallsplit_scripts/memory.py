"""How this process gives memory back."""

import ctypes
import os
from contextlib import suppress

_M_MMAP_THRESHOLD = -3  # malloc.h
_LARGE_BYTES = 4 << 20


def return_large_blocks() -> None:
    """Have freed memory go back to the system at once; to be called before Polars is imported.

    Both allocators keep freed blocks for later, glibc's those of up to 32 MiB and each thread its own, jemalloc in
    Polars all; with columns of that size the peak of a large trace is a fifth higher. Huge pages make up for most of
    the page faults this costs.
    """
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0,thp:always")
    with suppress(OSError, AttributeError, TypeError):  # other C libraries have no such setting, and need none
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
