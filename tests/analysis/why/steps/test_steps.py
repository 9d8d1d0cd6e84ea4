"""Steps from rows to figures: planted runs, and the reference on real traces."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import TraceBuilder
from launch_loops import launch
from references import REFERENCES, differences
from shared_traces import needs_shared_traces
from wallsplit.accounts import ACCOUNTS
from wallsplit.errors import LedgerError
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.timeline import accounts_between
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model
from wallsplit.pipeline import examine
from wallsplit.why.steps import Steps, steps, summary

TRAIN = "<abcdefgh" + "HGFEDCBA" + "uuuu"
VALIDATE = "<abcdefgh" + "m"
EPOCHS = "xyz" + (TRAIN * 12 + VALIDATE * 4 + ">|") * 3


def of(model: Model, window: Window | None = None, *, hide_ranges: bool = False) -> Steps:
    """Return the steps of the only activity."""
    (activity,) = activities(model)
    window = window or default_window(model)
    assert window is not None
    return steps(model, activity, window, hide_ranges=hide_ranges)


def fields(found: Steps) -> dict[str, Any]:
    """Return the steps as the document has them, and the sum of all starts."""
    result = {key: value for key, value in vars(found).items() if key != "rows"}
    for key in ("kinds", "slowest"):
        result[key] = None if result[key] is None else [vars(entry) for entry in result[key]]
    return {**result, "starts_sum_ns": int(found.rows["start"].sum())}


@needs_shared_traces
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_every_figure_equals_the_reference_with_ranges_and_without(name: str) -> None:
    trace, oracle = REFERENCES[name]
    reference = json.loads(Path(oracle).read_text())
    examined = examine(trace)
    window = default_window(examined.model)
    assert window is not None
    found: list[str] = []
    for activity, theirs in zip(examined.activities, reference["ledgers"], strict=True):
        for key, hide_ranges in (("steps", False), ("steps_hidden_nvtx", True)):
            ours = fields(steps(examined.model, activity, window, hide_ranges=hide_ranges))
            found += differences(theirs[key], ours, f"{activity.pid}/{activity.device}/{key}") if theirs[key] else ()
    assert found == []


def test_a_run_that_trains_and_validates_has_both_kinds_of_steps(build: TraceBuilder) -> None:
    launch(build, EPOCHS, pauses={"<": 2_000})
    found = of(build.model())
    assert (found.source, found.boundary, found.count) == ("cycle", "gpu", 48)
    assert found.kinds is not None
    assert [(kind.role, kind.count) for kind in found.kinds] == [("train", 36), ("validation", 12)]
    assert found.rows["kind"].to_list() == ([0] * 12 + [1] * 4) * 3


def test_the_wait_for_the_next_batch_belongs_to_the_step(build: TraceBuilder) -> None:
    launch(build, "<abcd|" * 6, pauses={"<": 50_000})
    rows = of(build.model()).rows
    assert rows["end"][:-1].to_list() == rows["start"][1:].to_list()
    assert (rows["start"].diff().drop_nulls() > 50_000).all()


def test_a_step_begins_on_the_gpu_where_its_first_operation_does(build: TraceBuilder) -> None:
    launch(build, "<abcd|" * 6)
    model = build.model()
    copies = model.memory_ops["start"].to_list()
    calls = model.api_calls.filter(api_class="memcpy")["start"].to_list()
    rows = of(model).rows
    assert rows["start"].to_list() == copies
    assert rows["host_start"].to_list() == calls


def test_steps_whose_operations_begin_out_of_order_begin_with_the_host(build: TraceBuilder) -> None:
    for step in range(8):  # the copy of every second step runs ahead, on a stream of its own
        at = 1_000 * step
        for number, unit in enumerate("<abc"):
            corr = build._id(None)
            call = at + 100 * number
            build.api("cudaMemcpyAsync" if unit == "<" else "cudaLaunchKernel", call, call + 50, corr)
            begin = call + (2_500 if step % 2 == 0 else 200)
            build.copy(begin, begin + 10, corr) if unit == "<" else build.kernel(begin, begin + 10, corr, unit)
    rows = of(build.model()).rows
    assert rows["start"].to_list() == rows["host_start"].to_list() == [1_000 * step for step in range(8)]


def test_the_nodes_of_a_graph_launch_are_one_unit_of_work(build: TraceBuilder) -> None:
    at = 0
    for _ in range(8):
        at = launch(build, "<", at)
        corr = build._id(None)
        build.api("cudaGraphLaunch", at, at + 100, corr)
        for node, name in enumerate("abcab"):
            build.kernel(at + 200 + 50 * node, at + 240 + 50 * node, corr, name, graphNodeId=1 + node)
        at += 1_000
    found = of(build.model())
    assert found.count == 8
    assert found.kinds is not None
    assert len(found.kinds) == 1


def test_sets_and_migrations_are_no_work_of_the_programs_own(build: TraceBuilder) -> None:
    launch(build, "<abcd|" * 8)
    plain = of(build.model()).rows.rows()
    for step, (start, *_) in enumerate(plain):
        build.memset(start + 10 + step, start + 12 + step)
        build.copy(start + 5 * step, start + 5 * step + 1, kind=11)
    assert of(build.model()).rows.rows() == plain


def test_a_cpu_run_has_its_steps_from_its_ranges(build: TraceBuilder) -> None:
    at = 0
    for step in range(7):
        for name in ("collate", "matmul", "sum rows", f"note {step}"):
            build.range(name, at, at + 90)
            at += 100
    build.range("elsewhere", 0, at, tid=2)
    found = of(build.model())
    assert (found.source, found.boundary, found.count) == ("nvtx_cycle", "host", 7)
    assert found.accounts_in_steps_ns is None
    assert found.kinds is not None
    assert found.kinds[0].accounts_med_ns is None


def test_nothing_to_find_steps_in_is_a_reason(build: TraceBuilder) -> None:
    found = of(build.api("cuInit", 0, 100).model())
    assert (found.source, found.reason, found.count) == (None, "neither launches nor NVTX ranges", 0)
    assert found.rows.is_empty()


def annotate(build: TraceBuilder, name: str = "train step") -> None:
    """Name each step of a run of EPOCHS, as it is launched."""
    at = 0
    for number, body in enumerate([*([TRAIN] * 12 + [VALIDATE] * 4)] * 3):
        begin = at + 2_000
        at = launch(build, body, at, pauses={"<": 2_000})
        build.range(f"{name if body == TRAIN else 'eval step'} {number}", begin, at)


def test_named_steps_have_the_roles_that_their_names_tell(build: TraceBuilder) -> None:
    annotate(build)
    found = of(build.model())
    assert (found.source, found.boundary, found.count) == ("nvtx", "host", 48)
    assert found.kinds is not None
    assert [(kind.name, kind.role, kind.count) for kind in found.kinds] == [
        ("train step #", "train", 36),
        ("eval step #", "validation", 12),
    ]


def test_with_the_ranges_hidden_the_same_steps_are_found(build: TraceBuilder) -> None:
    annotate(build)
    model = build.model()
    named, hidden = of(model), of(model, hide_ranges=True)
    assert hidden.source == "cycle"
    assert hidden.rows["host_start"].to_list() == named.rows["host_start"].to_list()
    assert hidden.rows["kind"].to_list() == named.rows["kind"].to_list()


def test_a_librarys_ranges_name_no_steps(build: TraceBuilder) -> None:
    launch(build, "<abcd|" * 6)
    for step in range(4):
        build.range(f"step {step}", 100 * step, 100 * step + 90, domain=1)
    build.range("NCCL", 0, None, event_type=75, domain=1)
    assert of(build.model()).source == "cycle"


def test_a_domain_is_no_part_of_a_steps_name(build: TraceBuilder) -> None:
    launch(build, "<abcd|" * 6)
    for step in range(4):
        build.range(f"step {step}", 100 * step, 100 * step + 90, domain=1)
    build.range("Mine", 0, None, event_type=75, domain=1)
    kinds = of(build.model()).kinds
    assert kinds is not None
    assert kinds[0].name == "step #"


def test_in_and_outside_the_steps_are_the_ledger(build: TraceBuilder) -> None:
    launch(build, "xyz" + EPOCHS + "zyx")
    model = build.model()
    found, window = of(model), default_window(model)
    assert window is not None
    (activity,) = activities(model)
    (ledger,) = book(activity, [window])
    assert found.accounts_in_steps_ns is not None
    assert found.accounts_outside_ns is not None
    together = {name: found.accounts_in_steps_ns[name] + found.accounts_outside_ns[name] for name in ACCOUNTS}
    assert together == ledger.accounts
    assert sum(found.accounts_in_steps_ns.values()) == found.steps_total_ns


def test_accounts_that_miss_the_steps_are_refused(build: TraceBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    launch(build, EPOCHS)
    model = build.model()
    monkeypatch.setattr(summary, "accounts_between", lambda *given: accounts_between(*given) + 1)
    with pytest.raises(LedgerError, match="please report it"):
        of(model)


def test_a_window_clips_the_steps_and_leaves_out_those_outside(build: TraceBuilder) -> None:
    launch(build, "<abcd|" * 10)
    model = build.model()
    rows = of(model).rows
    part = of(model, Window("part", rows["start"][3] + 5, rows["end"][6] - 5))
    assert part.count == 4
    assert part.rows["start"].to_list() == [rows["start"][3] + 5, *rows["start"][4:7]]
    assert part.rows["end"].to_list() == [*rows["end"][3:6], rows["end"][6] - 5]
    assert (part.before_ns, part.after_ns) == (0, 0)


def test_the_slowest_steps_say_what_they_have_too_much_of(build: TraceBuilder) -> None:
    at = launch(build, "<abcd|" * 10, pauses={"<": 2_000})
    at = launch(build, "<abcd|", at + 90_000, pauses={"<": 2_000})
    launch(build, "<abcd|" * 10, at, pauses={"<": 2_000})
    found = of(build.model())
    assert found.slowest is not None
    assert (found.slowest[0].index, found.slowest[0].excess_account) == (9, "host")
    assert len(found.slowest) == 5
    assert [step.ns for step in found.slowest] == sorted((step.ns for step in found.slowest), reverse=True)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), shift=st.integers(-(10**12), 10**12))
def test_the_order_of_rows_and_the_time_of_day_change_nothing(build: TraceBuilder, seed: int, shift: int) -> None:
    build.rows.clear()
    launch(build, "xyz" + (TRAIN * 4 + VALIDATE * 3) * 2, pauses={"<": 2_000})
    before = of(build.model())
    random = np.random.default_rng(seed)
    for table, rows in build.rows.items():
        moved = [{**row, "start": row["start"] + shift, "end": row["end"] + shift} for row in rows]
        build.rows[table] = [moved[i] for i in random.permutation(len(moved))]
    after = of(build.model())
    assert after.rows["start"].to_list() == [start + shift for start in before.rows["start"]]
    assert after.rows["end"].to_list() == [end + shift for end in before.rows["end"]]
    assert after.kinds == before.kinds
    assert after.accounts_in_steps_ns == before.accounts_in_steps_ns
