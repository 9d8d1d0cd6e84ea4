"""Windows: what each name means, and one sentence that lists what there is when there is no such window."""

import pytest

from builders import TraceBuilder
from wallsplit.errors import WindowError
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.windows import default_window, whole, windows


def test_the_cuda_window_spans_calls_and_gpu_work_and_nothing_else(build: TraceBuilder) -> None:
    build.api("cudaMalloc", 10, 20).kernel(30, 45).range("setup", 0, 200).osrt("poll", 0, 300).duration(400)
    assert default_window(build.model()) == Window("cuda", 10, 45)


def test_without_cuda_the_users_ranges_are_the_window_and_a_librarys_are_not(build: TraceBuilder) -> None:
    build.range("NCCL", 0, None, event_type=75, domain=2).range("init", 1, 900, domain=2).range("step", 20, 70)
    assert default_window(build.osrt("poll", 0, 100).model()) == Window("nvtx", 20, 70)


def test_without_cuda_and_ranges_the_capture_is_the_window(build: TraceBuilder) -> None:
    assert default_window(build.osrt("poll", 5, 9).duration(1_000).model()) == Window("capture", 0, 1_000)


def test_asked_for_ranges_that_are_not_there_the_window_is_the_capture_and_says_so(build: TraceBuilder) -> None:
    assert windows(build.kernel(5, 9).duration(1_000).model(), "nvtx") == (Window("capture", 0, 1_000),)


def test_a_trace_with_nothing_to_measure_has_no_window_but_is_no_error(build: TraceBuilder) -> None:
    assert default_window(build.osrt("poll", 5, 9).model()) is None


@pytest.mark.parametrize(
    ("spec", "ends"),
    [
        ("5ns:9ns", (5, 9)),
        ("0.5us:2us", (500, 2_000)),
        ("1µs:0.001ms", None),
        ("0.000001s:0.003ms", (1_000, 3_000)),
        (" 1 us : 2 us ", (1_000, 2_000)),
    ],
)
def test_times_carry_a_unit_and_are_exact(build: TraceBuilder, spec: str, ends: tuple[int, int] | None) -> None:
    model = build.kernel(0, 10_000).model()
    if ends is None:
        with pytest.raises(WindowError, match="is empty"):
            windows(model, spec)
    else:
        assert windows(model, spec) == (Window(spec, *ends),)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("5:9", "is none of cuda, nvtx, capture, steady, nvtx:NAME, or START:END"),
        ("sometimes", "is none of"),
        ("1s:2s", r"outside the trace; it has cuda \(0ns:10000ns\)"),
        ("5us:5us", "is empty"),
        ("nvtx", "the trace has nothing to take it from; it has cuda"),
        ("capture", "nothing to take it from"),
        ("nvtx:step", "the trace has no NVTX ranges"),
    ],
)
def test_a_window_that_is_not_there_is_one_sentence_that_says_what_is(
    build: TraceBuilder, spec: str, says: str
) -> None:
    model = build.kernel(0, 10_000).model()
    with pytest.raises(WindowError, match=says):
        windows(model, spec)


def test_an_unknown_range_lists_the_nearest_names(build: TraceBuilder) -> None:
    model = build.kernel(0, 10).range("training_step", 0, 5).range("validation", 5, 9).model()
    with pytest.raises(WindowError, match="no such NVTX range; there are training_step"):
        windows(model, "nvtx:training_steps")


def test_a_range_that_occurs_often_gives_one_ledger_each_and_they_add_up(build: TraceBuilder) -> None:
    build.range("step", 0, 10).range("step", 10, 30).kernel(5, 20).kernel(25, 40)
    model = build.model()
    parts = windows(model, "nvtx:step")
    assert [(w.start_ns, w.end_ns) for w in parts] == [(0, 10), (10, 30)]
    (activity,) = activities(model)
    one, two = (ledger.accounts["gpu.kernel"] for ledger in book(activity, parts))
    assert (one, two) == (5, 15)
    assert book(activity, [whole(parts)])[0].accounts["gpu.kernel"] == 20


def test_a_pattern_stands_for_all_ranges_that_it_matches(build: TraceBuilder) -> None:
    build.range("step 1", 0, 10).range("step 2", 10, 30).range("stepped", 40, 50).range("[x]*", 60, 70)
    model = build.kernel(5, 20).model()
    assert [(w.start_ns, w.end_ns) for w in windows(model, "nvtx:step *")] == [(0, 10), (10, 30)]
    assert [(w.name, w.start_ns) for w in windows(model, "nvtx:step ?")] == [("nvtx:step ?", 0), ("nvtx:step ?", 10)]
    assert [w.start_ns for w in windows(model, "nvtx:[x]*")] == [60]
    with pytest.raises(WindowError, match="no such NVTX range"):
        windows(model, "nvtx:Step *")


def test_ranges_without_length_make_no_window_but_are_not_unknown(build: TraceBuilder) -> None:
    with pytest.raises(WindowError, match="window nvtx:blink: is empty; every range of this name ends when it starts"):
        windows(build.kernel(0, 10).range("blink", 5, 5).model(), "nvtx:blink")


def test_the_names_listed_in_an_error_are_short(build: TraceBuilder) -> None:
    with pytest.raises(WindowError) as raised:
        windows(build.range("x" * 100_000, 0, 5).model(), "nvtx:step")
    assert len(str(raised.value)) < 500
