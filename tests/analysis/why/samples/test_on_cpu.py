"""When a thread was on a CPU, from events that may come twice or not at all."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.schema import THREAD_SWITCHES
from wallsplit.why.samples.on_cpu import OnCpu, on_cpu

END = 30
Event = tuple[int, int, bool]  # start, thread, is_in
events = st.lists(st.tuples(st.integers(0, END), st.sampled_from([1, 2]), st.booleans()), max_size=20)


def read(rows: list[Event]) -> dict[int, OnCpu]:
    frame = pl.DataFrame([(start, 1, thread, is_in) for start, thread, is_in in rows], THREAD_SWITCHES, orient="row")
    return dict(on_cpu(frame, END))


def stretches(found: OnCpu) -> list[tuple[int, int]]:
    return [(int(start), int(end)) for start, end in np.column_stack(found.intervals)]


def ticks(rows: list[Event], thread: int) -> set[int]:
    """Return the ticks on a CPU, event by event."""
    since: int | None = None
    on: set[int] = set()
    for start, _, is_in in sorted((row for row in rows if row[1] == thread), key=lambda row: (row[0], row[2])):
        if is_in:
            since = start if since is None else since
        elif since is not None:
            on |= set(range(since, start))
            since = None
    return on | set(range(END if since is None else since, END))


@given(events)
def test_a_thread_is_on_a_cpu_from_a_switch_in_to_the_next_switch_out(rows: list[Event]) -> None:
    found = read(rows)
    assert found.keys() == {thread for _, thread, _ in rows}
    for thread, told in found.items():
        assert {tick for start, end in stretches(told) for tick in range(start, end)} == ticks(rows, thread)
        assert told.first_ns == min(start for start, other, _ in rows if other == thread)
        assert told.event_count == len([1 for _, other, _ in rows if other == thread])


def test_a_second_switch_in_keeps_the_earlier_and_one_left_open_ends_with_the_capture() -> None:
    rows = [(5, 1, True), (7, 1, True), (9, 1, False), (20, 1, True)]
    assert stretches(read(rows)[1]) == [(5, 9), (20, END)]


def test_events_come_cpu_by_cpu_and_are_read_in_the_order_of_time() -> None:
    assert stretches(read([(10, 1, True), (20, 1, False), (0, 1, True), (10, 1, False)])[1]) == [(0, 20)]
