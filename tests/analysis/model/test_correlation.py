"""Which calls and operations belong together, against a loop over every pair."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.model.correlation import Correlation

Key = tuple[int, int | None]

KEYS = st.lists(st.tuples(st.integers(1, 2), st.none() | st.sampled_from((-(2**63), 0, 1, 2, 2**63 - 1))), max_size=8)


def frame(keys: list[Key]) -> pl.DataFrame:
    return pl.DataFrame(keys, schema={"pid": pl.Int32, "correlation_id": pl.Int64}, orient="row")


def correlation(calls: list[Key], *operations: list[Key]) -> Correlation:
    return Correlation.of(frame(calls), [frame(keys) for keys in operations])


@given(KEYS, KEYS, KEYS)
def test_rows_pair_up_where_process_and_id_are_equal(calls: list[Key], kernels: list[Key], copies: list[Key]) -> None:
    found = correlation(calls, kernels, copies)
    for numbers, keys in zip(found.operations, (kernels, copies), strict=True):
        operation, call = found.pairs(numbers)
        assert sorted(zip(operation.tolist(), call.tolist(), strict=True)) == [
            (i, j) for i, key in enumerate(keys) for j, other in enumerate(calls) if key == other and key[1] is not None
        ]


@given(KEYS, KEYS)
def test_a_call_knows_how_many_operations_it_enqueued(calls: list[Key], kernels: list[Key]) -> None:
    found = correlation(calls, kernels)
    counted = found.operations_per_number[found.calls].tolist()
    assert counted == [0 if key[1] is None else kernels.count(key) for key in calls]


def test_rows_without_an_id_belong_to_nothing() -> None:
    found = correlation([(1, None), (1, None)], [(1, None)])
    assert found.operations_per_number[found.calls].tolist() == [0, 0]
    assert found.calls_per_number[found.operations[0]].tolist() == [0]


def test_first_and_last_times_are_those_of_each_number() -> None:
    found = correlation([(1, 7), (2, 7), (1, 7)], [(1, 7), (1, 8)])
    times = np.array([30, 10, 20])
    mine, other = found.operations[0]
    assert found.earliest(found.calls, times)[mine] == 20
    assert found.latest(found.calls, times)[mine] == 30
    assert found.latest(found.calls, times)[other] == np.iinfo(np.int64).min
