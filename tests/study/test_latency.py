"""Latency, throughput and cost side by side: planted runs, and nothing where nothing was measured."""

from dataclasses import replace

from studies import IDENTITY, cell, run
from wallsplit.report.document import Table
from wallsplit.run.manifest import Epoch
from wallsplit_study.cells import Outcome, measured
from wallsplit_study.latency import latency


def outcome(
    repeat: int = 1, *steps_ns: int, batch: int = 32, approach: str = "numpy", **peak_memory_bytes: int
) -> Outcome:
    """Return a run of 48,000 samples in two epochs of 1 s, the target reached in neither."""
    one = replace(
        run(10**9, 10**9, parameters={"batch": batch}),
        step_wall_ns=steps_ns or None,
        peak_memory_bytes=peak_memory_bytes,
    )
    return measured(cell(approach, repeat, batch=str(batch)), IDENTITY, one)


def shown(*outcomes: Outcome) -> dict[tuple[object, ...], dict[str, object]]:
    """Return the table's cells by title, the rows by their names."""
    section = latency(outcomes)
    assert section is not None
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    titles = [column.title for column in table.columns]
    return {row[:3]: dict(zip(titles[3:], row[3:], strict=True)) for row in table.rows}


def test_a_place_has_its_rate_its_percentiles_and_its_cost() -> None:
    one = outcome(1, *range(1, 101), process=5, torch_allocated=7, torch_reserved=9)
    assert one.run is not None
    one = replace(one, run=replace(one.run, energy_mj={"cpu_package": 30_000, "gpu": 12_000}))
    assert shown(one)["numpy", "numpy", 32] == {
        "samples per s": 48_000.0,
        "step, median": 50,
        "95th percentile": 95,
        "99th percentile": 99,
        "energy, J": 42.0,
        "peak memory, host": 5,
        "peak memory, GPU": 9,
        "time to 80%": "not reached",
    }


def test_what_was_not_measured_is_said_to_be_so() -> None:
    row = shown(outcome())["numpy", "numpy", 32]
    assert [title for title, value in row.items() if value is None] == [
        *("step, median", "95th percentile", "99th percentile"),
        *("energy, J", "peak memory, host", "peak memory, GPU"),
    ]
    section = latency([outcome()])
    assert section is not None
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert {column.null for column in table.columns[3:-1]} == {"not measured"}


def test_a_run_that_takes_no_accuracy_has_no_target_to_reach() -> None:
    one = measured(cell("word2vec"), IDENTITY, replace(run(7), epochs=(Epoch(7),)))
    assert shown(one)["word2vec", "word2vec", None]["time to 80%"] is None


def test_of_very_many_epochs_the_rate_is_that_of_them_all() -> None:
    """48,000 samples in each of 1,000 epochs of 1 ms."""
    one = measured(cell("iris-cpu", part="item"), IDENTITY, run(*[10**6] * 1_000, parameters={"epochs": 1_000}))
    assert one.run is not None
    assert one.run.epochs == ()
    assert shown(one)["iris-cpu", "iris-cpu", None]["samples per s"] == 48_000_000.0


def test_repeats_count_by_their_median_and_places_come_by_workload_and_batch() -> None:
    rows = shown(
        *(outcome(repeat, ns) for repeat, ns in enumerate((30, 10, 20), 1)),
        outcome(1, 5, approach="jax-cpu"),
        outcome(1, 7, batch=8),
    )
    assert list(rows) == [("numpy", "numpy", 8), ("numpy", "numpy", 32), ("jax-cpu", "jax-cpu", 32)]
    assert [row["step, median"] for row in rows.values()] == [7, 20, 5]


def test_a_repeat_without_a_figure_leaves_the_place_without_it() -> None:
    """Half of the repeats would be another figure."""
    rows = shown(outcome(1, 1, process=5), outcome(2, 1))
    assert rows["numpy", "numpy", 32]["peak memory, host"] is None


def test_runs_that_train_nothing_have_no_place() -> None:
    assert latency([measured(cell("pool"), IDENTITY, run())]) is None
