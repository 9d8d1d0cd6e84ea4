"""How much of a GPU kernels fill, planted by hand and against the integral taken nanosecond by nanosecond."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import TraceBuilder
from gpu_use import only_activity, whole
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.why.sm import Sm, sm, table
from wallsplit.why.sm_limits import LIMITS, SHAPE, Multiprocessors

A100 = {"name": "A100", "smCount": 108, "computeMajor": 8, "computeMinor": 0}
RESIDENT_BLOCKS = pl.read_csv(
    Path(__file__).with_name("resident_blocks.csv"),
    comment_prefix="#",
    schema_overrides={"compute_capability": pl.String},
)


def use(model: Model, window: Window | None = None) -> Sm:
    found = sm(only_activity(model), window or whole(model), model.gpus)
    assert found is not None
    return found


@pytest.mark.parametrize("capability", RESIDENT_BLOCKS["compute_capability"].unique(maintain_order=True))
def test_as_many_blocks_fit_as_nvidias_own_occupancy_calculator_says(capability: str) -> None:
    undescribed = dict.fromkeys(
        ["max_warps_per_sm", "max_blocks_per_sm", "max_registers_per_sm", "max_shared_memory_per_sm_bytes"]
    )
    multiprocessors = Multiprocessors.of({"sm_count": 1, "compute_capability": capability, **undescribed})
    shapes = RESIDENT_BLOCKS.filter(pl.col("compute_capability") == capability)
    assert multiprocessors is not None
    assert multiprocessors.resident(shapes)[0].tolist() == shapes["resident_blocks"].to_list()


def test_the_table_of_resident_blocks_covers_six_kinds_of_gpu() -> None:
    assert RESIDENT_BLOCKS.height == 250
    assert RESIDENT_BLOCKS["compute_capability"].n_unique() == 6


@pytest.mark.parametrize(
    ("shape", "blocks", "limit"),
    [
        ((1024, 0, 0, 0), 2, "warps"),
        ((32, 0, 0, 0), 32, "blocks"),  # warps would allow 64
        ((256, 255, 0, 0), 1, "registers"),
        ((64, 16, 0, 80_000), 2, "shared memory"),
        ((2048, 0, 0, 200_000), 0, "shared memory"),
        ((64, 32, 0, 0), 32, "warps"),  # warps and block slots alike: the first is named
    ],
)
def test_what_limits_the_blocks_of_an_sm_is_named(shape: tuple[int, ...], blocks: int, limit: str) -> None:
    gpu = {"sm_count": 108, "compute_capability": "8.0", "max_warps_per_sm": 64, "max_blocks_per_sm": 32}
    memory = {"max_registers_per_sm": 65_536, "max_shared_memory_per_sm_bytes": 167_936}
    multiprocessors = Multiprocessors.of({**gpu, **memory})
    assert multiprocessors is not None
    found, limits = multiprocessors.resident(pl.DataFrame([shape], schema=list(SHAPE), orient="row"))
    assert (found.tolist(), [LIMITS[code] for code in limits]) == ([blocks], [limit])


def test_one_block_covers_one_sm_though_nvidia_smi_would_call_the_gpu_fully_used(build: TraceBuilder) -> None:
    build.kernel(0, 100, gridX=1, blockX=1024).add("TARGET_INFO_GPU", id=0, **A100)
    found = use(build.model())
    assert (found.kernel_active_ratio, found.sm_count, found.limits) == (1.0, 108, {"warps": 1})
    assert found.sm_coverage == found.sm_coverage_while_active == pytest.approx(1 / 108)
    assert found.slot_fill == found.warp_occupancy == pytest.approx(1 / 216)
    assert (found.time_in_small_grids_ratio, found.theoretical_occupancy_mean) == (1.0, 1.0)


def test_the_last_round_of_a_grid_leaves_sms_without_work(build: TraceBuilder) -> None:
    """217 blocks, two to an SM: a full round of 216, then one block alone."""
    build.kernel(0, 100, gridX=217, blockX=1024).add("TARGET_INFO_GPU", id=0, **A100)
    found = use(build.model())
    assert found.sm_coverage == pytest.approx((1 + 1 / 108) / 2)
    assert found.time_in_tail_ratio == pytest.approx(1 - (1 + 1 / 108) / 2)
    assert found.slot_fill == pytest.approx(217 / 432)


def test_kernels_side_by_side_cover_together_but_never_more_than_the_gpu(build: TraceBuilder) -> None:
    build.kernel(0, 50, gridX=54, blockX=32).kernel(0, 100, gridX=27, blockX=32).kernel(100, 200, gridX=108, blockX=32)
    build.kernel(100, 200, gridX=108, blockX=32).add("TARGET_INFO_GPU", id=0, **A100)
    assert use(build.model()).sm_coverage == pytest.approx((0.75 * 50 + 0.25 * 50 + 1.0 * 100) / 200)


def test_graph_replays_recorded_as_a_whole_give_an_upper_bound(build: TraceBuilder) -> None:
    build.kernel(0, 50, gridX=108, blockX=32).graph(40, 100).add("TARGET_INFO_GPU", id=0, **A100)
    found = use(build.model())
    assert (found.sm_coverage, found.sm_coverage_upper, found.kernel_active_ratio) == (0.5, 1.0, 1.0)


def test_a_kernel_of_which_no_block_fits_is_counted_and_taken_as_one_block(build: TraceBuilder) -> None:
    build.kernel(0, 100, gridX=108, blockX=1024, registersPerThread=128).add("TARGET_INFO_GPU", id=0, **A100)
    found = use(build.model())
    assert (found.impossible_count, found.sm_coverage, found.slot_fill) == (1, 1.0, 1.0)


def test_a_window_cuts_kernels_at_its_ends(build: TraceBuilder) -> None:
    build.kernel(0, 100, gridX=54, blockX=32).kernel(300, 400).add("TARGET_INFO_GPU", id=0, **A100)
    found = use(build.model(), Window("50:150", 50, 150))
    assert (found.sm_coverage, found.sm_coverage_while_active, found.limits) == (0.25, 0.5, {"blocks": 1})


def test_without_a_description_of_the_gpu_only_the_time_with_a_kernel_is_known(build: TraceBuilder) -> None:
    build.kernel(0, 100).api("cudaFree", 100, 200)
    expected = Sm(kernel_active_ratio=0.5, reason="the export does not describe the GPU")
    assert use(build.model()) == expected


def test_a_gpu_without_figures_takes_those_of_its_name_where_they_agree(build: TraceBuilder) -> None:
    build.kernel(0, 100, device=1, gridX=108).add("TARGET_INFO_GPU", id=0, **A100).add("TARGET_INFO_GPU", id=2, **A100)
    build.add("TARGET_INFO_GPU", id=1, name="A100", smCount=0, computeMajor=0, computeMinor=0)
    assert use(build.model()).sm_coverage == 1.0


def test_a_gpu_without_figures_takes_none_where_those_of_its_name_differ(build: TraceBuilder) -> None:
    build.kernel(0, 100, device=1).add("TARGET_INFO_GPU", id=0, **A100)
    build.add("TARGET_INFO_GPU", id=1, name="A100", smCount=0).add("TARGET_INFO_GPU", id=2, **{**A100, "smCount": 98})
    assert use(build.model()).sm_count is None


def test_the_table_has_a_row_per_ledger_and_a_column_per_limit(build: TraceBuilder) -> None:
    build.kernel(0, 100, gridX=108, blockX=1024).add("TARGET_INFO_GPU", id=0, **A100)
    (row,) = table([(1, 0, use(build.model())), (2, None, None)]).iter_rows(named=True)
    assert (row["pid"], row["sm_coverage"], row["limited_by_warps_count"]) == (1, 1.0, 1)
    assert row["limited_by_shared_memory_count"] == 0


kernels = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(1, 40), st.sampled_from([32, 96, 1024])),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kernels, st.integers(0, 50), st.integers(1, 20))
def test_coverage_is_the_mean_over_every_nanosecond_of_the_share_of_sms_with_work(
    tmp_path: Path, rows: list[tuple[int, int, int, int]], start: int, length: int
) -> None:
    """On 4 SMs of 2 blocks by warps, or 32 by slots."""
    build = TraceBuilder(tmp_path / "t.sqlite").add("TARGET_INFO_GPU", id=0, **{**A100, "smCount": 4})
    for begin, lasts, blocks, threads in rows:
        build.kernel(begin, begin + lasts, gridX=blocks, blockX=threads)

    def coverage(blocks: int, threads: int) -> float:
        slots = 4 * min(32, 64 // (threads // 32))
        rounds = -(-blocks // slots)
        return (rounds - 1 + min(1.0, (blocks - (rounds - 1) * slots) / 4)) / rounds

    ticks = [
        min(1.0, sum(coverage(blocks, threads) for s, n, blocks, threads in rows if s <= t < s + n))
        for t in range(start, start + length)
    ]
    found = use(build.model(), Window("part", start, start + length))
    assert found.sm_coverage == pytest.approx(sum(ticks) / length, abs=1e-9)
