"""Text columns declared as bytes: the same rows, readable whatever the bytes are."""

import io
from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.trace.untyped_text import untyped_arrow, untyped_parquet

TEXTS = st.lists(st.none() | st.text(max_size=20), max_size=6)


def parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def arrow(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_ipc_stream(file, compat_level=pl.CompatLevel.oldest())  # as nsys: no string views
    return file.getvalue()


@given(TEXTS)
def test_a_parquet_file_keeps_every_value_and_its_texts_become_bytes(texts: list[str | None]) -> None:
    frame = pl.DataFrame({"id": range(len(texts)), "value": texts}, schema={"id": pl.Int64, "value": pl.String})
    found = pl.read_parquet(io.BytesIO(untyped_parquet(parquet(frame))))
    assert found.equals(frame.cast({"value": pl.Binary}))


@given(TEXTS)
def test_an_arrow_stream_keeps_every_value_and_its_texts_become_bytes(texts: list[str | None]) -> None:
    frame = pl.DataFrame({"id": range(len(texts)), "value": texts}, schema={"id": pl.Int64, "value": pl.String})
    found = pl.read_ipc_stream(io.BytesIO(untyped_arrow(arrow(frame))))
    assert found.equals(frame.cast({"value": pl.Binary}))


@pytest.mark.parametrize("untyped", [untyped_parquet, untyped_arrow])
@given(content=st.binary(max_size=200))
def test_any_bytes_come_back_with_their_length(untyped: Callable[[bytes], bytes], content: bytes) -> None:
    assert len(untyped(content)) == len(content)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_stream_changed_anywhere_comes_back_with_its_length(place: int, value: int) -> None:
    content = bytearray(arrow(pl.DataFrame({"id": [1], "value": ["a"]})))
    content[place % len(content)] = value
    assert len(untyped_arrow(bytes(content))) == len(content)
