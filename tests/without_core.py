"""NumPy in place of the compiled core."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from wallsplit import native

needs_core = pytest.mark.skipif(not native.is_compiled(), reason=f"no compiled core: {native.REASON}")


@contextmanager
def without_core() -> Iterator[None]:
    """Have the functions inside do all work in NumPy."""
    with patch.object(native, "_core", None):
        yield
