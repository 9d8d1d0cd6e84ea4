"""Tables as kinds of rows: rows keep what they are, in the order asked for."""

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

from wallsplit.trace.kinds import Kinds


def test_rows_of_more_pairs_than_32_bits_count_come_in_order() -> None:
    size = 1 << 16
    numbers = np.random.default_rng(1)
    keys = pl.DataFrame({key: numbers.permutation(size + 1) for key in ("pid", "device")})
    rows = pl.DataFrame({"start": np.arange(size + 1)})
    assert_frame_equal(Kinds.each(rows, keys).together(keys, "pid", "device"), rows.hstack(keys).sort("pid", "device"))
