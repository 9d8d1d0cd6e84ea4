"""Numbered ranges taken together, kernels by family and by label."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import TraceBuilder
from wallsplit.breakdowns import tables
from wallsplit.breakdowns.range_groups import grouped, groups
from wallsplit.model import Model, Names

NAMES = st.lists(
    st.text(max_size=8)
    | st.builds("{}{}".format, st.sampled_from(["step ", "layer", "a::b, seq = 1, op_id = "]), st.integers(0, 30))
    | st.builds(", op_id = {}{}, op_id = {}".format, st.integers(0, 2), st.sampled_from(["", "x"]), st.integers(0, 2))
)


def table(model: Model, name: str) -> pl.DataFrame:
    found = tables(model, None)[name]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["aten::mm, seq = 3, op_id = 77", "aten::mm, op_id = 78", "aten::mm"], ["aten::mm"] * 3),
        (["aten::mm, op_id = 7, sizes = [[2, 3]]"], ["aten::mm, sizes = [[2, 3]]"]),
        (["step 1", "step 2", "step 10"], ["step *"] * 3),
        (["epoch_1", "batch 3/10", "epoch_2", "batch 4/10"], ["epoch_*", "batch *", "epoch_*", "batch *"]),
        (["iteration[5]", "iteration[6]"], ["iteration[*]"] * 2),
        (["sha256", "conv2d", "step", "step 1", "step 2"], ["sha256", "conv2d", "step", "step *", "step *"]),
        (["ProfilerStep#7", "ProfilerStep#8, op_id = 1"], ["ProfilerStep#*"] * 2),
        ([], []),
    ],
)
def test_names_that_differ_in_a_number_at_their_end_are_one_group(names: list[str], expected: list[str]) -> None:
    assert grouped(pl.Series(names, dtype=pl.String)).to_list() == expected


@given(NAMES)
def test_a_group_is_the_same_in_whatever_order_its_names_come(names: list[str]) -> None:
    found = grouped(pl.Series(names, dtype=pl.String)).to_list()
    assert len(found) == len(names)
    assert grouped(pl.Series(names[::-1], dtype=pl.String)).to_list() == found[::-1]


@given(NAMES.filter(bool), st.data())
def test_rows_of_names_are_grouped_as_their_texts_are(texts: list[str], data: st.DataObject) -> None:
    names = Names(pl.Series(list(dict.fromkeys(texts)), dtype=pl.String))
    rows = np.array(data.draw(st.sets(st.integers(0, len(names.texts) - 1)).map(sorted)), np.int64)
    place, every = groups(rows, names)
    assert every.gather(place).to_list() == grouped(names.text(pl.Series(rows))).to_list()
    assert every.is_unique().all()


def test_a_group_sums_the_ranges_of_all_its_names(build: TraceBuilder) -> None:
    for i in range(4):
        build.range(f"step {i}", 10 * i, 10 * i + 2 + i).range("load", 10 * i, 10 * i + 1)
    build.range("step 9", 100, 200, event_type=60)
    columns = ("group", "style", "names", "count", "total_ns", "med_ns", "share_ratio")
    assert table(build.model(), "nvtx_groups").select(columns).rows() == [
        ("step *", "StartEnd", 1, 1, 100, 100.0, pytest.approx(100 / 118)),
        ("step *", "PushPop", 4, 4, 14, 3.5, pytest.approx(14 / 118)),
        ("load", "PushPop", 1, 4, 4, 1.0, pytest.approx(4 / 118)),
    ]
    assert table(build.model(), "nvtx_summary").height == 6


def test_families_add_up_to_all_kernels(build: TraceBuilder) -> None:
    build.kernel(0, 70, name="ampere_sgemm_128x64_tn").kernel(0, 10, name="ampere_sgemm_128x64_nn")
    build.kernel(0, 15, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL").kernel(0, 5, name="my_kernel")
    assert table(build.model(), "kernel_families").rows() == [
        ("gemm", 2, 2, 80, 0.8),
        ("communication", 1, 1, 15, 0.15),
        ("other", 1, 1, 5, 0.05),
    ]


def test_a_kernel_is_of_communication_where_the_ledger_books_it_as_such(build: TraceBuilder) -> None:
    """The short name may tell what the demangled one does not."""
    build.kernel(0, 5, name="void ns::entry<float>()")
    build.rows["CUPTI_ACTIVITY_KIND_KERNEL"][0]["shortName"] = build.string("ncclKernel_Broadcast")
    model = build.model()
    assert model.kernels["is_comm"].to_list() == [True]
    assert table(model, "kernel_families")["family"].to_list() == ["communication"]


def test_a_kernel_has_one_label_in_every_table_and_window(build: TraceBuilder) -> None:
    for i, layout in enumerate(("nn", "tn")):
        build.api("cudaLaunchKernel", 100 * i, 100 * i + 1, i).kernel(
            100 * i + 5, 100 * i + 9, i, f"volta_sgemm_{layout}"
        )
    model = build.model()
    summary, launches = table(model, "kernel_summary"), table(model, "launches")
    labels = dict(summary.select("name", "label").rows())
    assert labels == {"volta_sgemm_nn": "gemm f32 (cublas) [nn]", "volta_sgemm_tn": "gemm f32 (cublas) [tn]"}
    assert dict(launches.select("kernel_name", "kernel_label").rows()) == labels
