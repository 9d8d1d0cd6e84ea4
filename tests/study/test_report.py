from dataclasses import replace

import polars as pl
import pytest

from studies import IDENTITY, absent, cell, failed, place, run
from wallsplit.report.document import Section, Table
from wallsplit.report.html import html
from wallsplit.run.manifest import Load, Scalar
from wallsplit_study.cells import Outcome, latest, measured
from wallsplit_study.frames import summary
from wallsplit_study.grid import floors, grid, medians
from wallsplit_study.items import items
from wallsplit_study.learning import learning, time_to_target_ns
from wallsplit_study.operations import operation_times, steps
from wallsplit_study.remedies import causes
from wallsplit_study.report import files, report
from wallsplit_study.search import search, training_ns

HOSTILE = "<script>alert(1)</script>|$x$ ![](http://evil)\x1b[31m\u202e=cmd()"
STUDY = [
    *place("keras-cpu", 32, 9_000_000_000, 7_000_000_000, 8_000_000_000),
    *place("keras-cpu", 4096, 600_000_000),
    *place("numpy", 32, 500_000_000),
    absent("keras-gpu", 32),
]


def table(section: Section | None, number: int = 0) -> Table:
    assert section is not None
    return [block for block in section.blocks if isinstance(block, Table)][number]


def test_the_grid_shows_the_frames_medians_and_why_a_place_has_none() -> None:
    shown = medians(summary(STUDY, "grid"))
    assert [column.title for column in shown.columns] == ["approach", "batch 32", "batch 4,096"]
    assert shown.rows == (
        ("keras-cpu", 8_000_000_000, 600_000_000),
        ("numpy", 500_000_000, None),
        ("keras-gpu", "no GPU here", None),
    )


def test_floors_come_with_their_batch_and_the_speed_up_against_the_slowest_place() -> None:
    shown = floors(summary(STUDY, "grid").filter(pl.col("n") > 0))
    assert shown.rows == (("numpy", 500_000_000, 32, 16.0), ("keras-cpu", 600_000_000, 4096, 8_000 / 600))
    assert shown.columns[-1].title == "times as fast as keras-cpu at batch 32"


def test_published_times_stand_beside_whole_epochs_only() -> None:
    ours = {row[:2]: row[3] for row in table(grid(STUDY), 2).rows}
    assert ours["keras-cpu", 32] == 8_000_000_000
    assert ours["keras-cpu", "best"] == 600_000_000
    assert ours["keras-gpu", 32] is None
    short = [replace(one, run=one.run and replace(one.run, data=None)) for one in STUDY]
    assert {row[3] for row in table(grid(short), 2).rows} == {None}


def test_time_to_the_target_sums_the_epochs_until_it_is_reached() -> None:
    outcome = measured(cell("numpy"), IDENTITY, run(10, 20, 30, 40))  # accuracies 0.5, 0.75, 0.875, 0.9375
    assert time_to_target_ns(outcome, 0.8) == 60
    assert time_to_target_ns(outcome, 0.5) == 10
    assert time_to_target_ns(outcome, 0.99) is None


def test_learning_has_a_row_for_every_measured_place_by_approach_and_batch() -> None:
    assert [row[:2] for row in table(learning(STUDY)).rows] == [("keras-cpu", 32), ("keras-cpu", 4096), ("numpy", 32)]


def test_the_operation_table_is_the_median_over_repeats_with_the_published_times_beside_it() -> None:
    outcomes = [
        measured(
            cell("numpy", repeat, "ops", "op-timing"),
            IDENTITY,
            run(1, operations=[{"name": "X @ W1 + b1", "phase": "forward", "mean_ns": ns}]),
        )
        for repeat, ns in enumerate((30, 10, 20), 1)
    ]
    assert operation_times(outcomes).rows() == [("numpy", "X @ W1 + b1", "forward", 20.0)]


def test_a_step_of_an_epoch_is_the_training_time_over_its_steps() -> None:
    product = measured(cell("numpy", 1, "ops", "matmul"), IDENTITY, replace(run(1), step_wall_ns=(50_000,)))
    rows = table(steps([product, *place("numpy", 32, 1_500_000_000)])).rows
    assert rows[0] == ("numpy", 50_000, None, 1_000_000, 1_500_000_000, 20.0)


def test_models_trained_side_by_side_take_as_long_as_the_slowest_and_one_by_one_as_all() -> None:
    models = [{"wall_ns": [1, 2]}, {"wall_ns": [5, 5]}]
    pool = [
        measured(cell("a", 1, "search", "pool"), IDENTITY, run(parameters={"processes": n}, models=models))
        for n in (1, 2)
    ]
    assert [training_ns(one) for one in pool] == [13, 10]
    assert len(table(search(pool)).rows) == 1


def test_item_calls_and_the_published_seconds_stand_beside_the_measured_time() -> None:
    parameters: dict[str, Scalar] = {"item_every": 100, "epochs": 20_000}
    outcome = measured(
        cell("iris-cpu", 1, "item", item_every="100"),
        IDENTITY,
        run(
            *[1000] * 20_000, parameters=parameters, item_calls=200, item_wall_ns=7, loss_curve=[[100, 1.0], [200, 0.5]]
        ),
    )
    assert table(items([outcome])).rows == (
        ("iris-cpu", 100, 200, 7, 20_000, 20_000_000, 20_000_000, 20_000_000, 1, "measured", 10.43e9),
    )


def test_a_remedy_is_compared_with_its_own_cause() -> None:
    outcomes = [
        measured(cell(approach, 1, "causes", workload), IDENTITY, run(1, ns))
        for workload, approach, ns in (
            ("too-small", "batch 8", 100),
            ("too-small", "batch 256", 50),
            ("mixed-precision", "width 1: fp32", 10),
            ("mixed-precision", "width 2: fp32", 1000),
            ("mixed-precision", "width 2: bf16", 250),
            ("mixed-precision", "GPU, width 2: fp32", 8),
            ("mixed-precision", "GPU, width 2: bf16", 4),
        )
    ]
    assert [row[3] for row in table(causes(outcomes)).rows] == pytest.approx([1, 2, 1, 1, 4, 1, 2])


def test_the_same_cause_on_cpu_and_gpu_is_two_places_and_neither_displaces_the_other() -> None:
    outcomes = [
        measured(cell("as it is", 1, "causes", "transfer-bound"), IDENTITY, run(1, 200)),
        measured(cell("as it is", 1, "causes", "transfer-bound", device="cuda"), IDENTITY, run(1, 100)),
    ]
    assert latest(outcomes) == outcomes
    assert [(row["device"], row["median_ns"]) for row in summary(outcomes, "causes").iter_rows(named=True)] == [
        (None, 200),
        ("cuda", 100),
    ]


def test_loss_accuracy_and_memory_stand_beside_the_speed_of_a_precision() -> None:
    def outcome(repeat: int, memory: dict[str, int]) -> Outcome:
        made = replace(run(1, 200), peak_memory_bytes=memory)
        return measured(cell("width 1: fp32", repeat, "causes", "mixed-precision"), IDENTITY, made)

    (row,) = table(causes([outcome(1, {"process": 9, "torch_allocated": 5}), outcome(2, {"process": 7})])).rows
    assert row[4:7] == (0.5, 0.75, 7)  # of the last epoch: validation loss, validation accuracy; the most memory


def test_equal_outcomes_give_equal_bytes_and_no_part_is_invented() -> None:
    assert files(STUDY) == files(STUDY)
    assert [file.name for file in files(STUDY) if file.name.endswith(".csv")] == ["grid.csv"]
    keys = [section.key for section in report(STUDY).sections]
    assert keys == ["notes", "grid", "learning", "machine", "claims"]


def test_a_study_without_any_outcome_still_has_a_report() -> None:
    assert [section.key for section in report([]).sections] == ["claims"]
    assert "0 runs measured" in html(report([]))


def test_the_csv_holds_the_frame() -> None:
    content = next(file.content for file in files(STUDY) if file.name == "grid.csv")
    assert pl.read_csv(content)["median_ns"].to_list() == [8_000_000_000, 600_000_000, 500_000_000, None]


def test_repeats_that_differ_widely_make_a_warning() -> None:
    def notes(*repeats_ns: int) -> list[str]:
        return [section.key for section in report(place("numpy", 32, *repeats_ns)).sections if section.key == "notes"]

    assert notes(100, 160, 100) == ["notes"]
    assert notes(100, 140, 100) == []


def test_a_failure_is_listed_with_its_message() -> None:
    page = html(report([*STUDY, failed("numpy", 128, "exit code 1: boom")]))
    assert "numpy, batch 128, repeat 1 failed: exit code 1: boom" in page


def test_hostile_text_acts_nowhere() -> None:
    strange: list[Outcome] = [
        *place(HOSTILE, 32, 5),
        failed(HOSTILE, 64, HOSTILE),
        measured(
            cell(HOSTILE, 1, "ops", "op-timing"),
            IDENTITY,
            run(1, operations=[{"name": HOSTILE, "phase": HOSTILE, "mean_ns": 1}, {"name": None, "mean_ns": "x"}, 7]),
        ),
        measured(
            cell(HOSTILE, 1, "item", item_every="1"),
            IDENTITY,
            run(1, parameters={"item_every": 1}, loss_curve=[[1, 2.0], [1], 3]),
        ),
        measured(cell(HOSTILE, 1, "search"), IDENTITY, run(5, models=HOSTILE)),
    ]
    for file in files(strange):
        if not file.name.endswith(".parquet"):
            text = file.content.decode()
            assert not {"\x1b", "\u202e"} & set(text) or file.name.endswith(".csv"), file.name
            assert "<script>alert" not in text or file.name.endswith((".csv",)), file.name
            assert "![](http" not in text or file.name.endswith((".csv", ".svg", ".html")), file.name


def test_runs_that_had_little_of_the_machine_make_a_warning() -> None:
    def text(cpu_time_ns: int) -> str:
        (outcome,) = place("numpy", 32, 100)
        assert outcome.run is not None
        shared = replace(outcome.run, wall_ns=1_000, load=Load(cpu_time_ns))
        return html(report([replace(outcome, run=shared)]))

    assert "in 1 of 1 runs on the CPU" in text(280)
    assert "numpy, batch 32, repeat 1, which had 28 % of a core" in text(280)
    assert "machine was busy" not in text(500)


def test_a_quick_study_says_that_its_times_mean_little() -> None:
    assert "its times mean little" in html(report(STUDY, quick=True))
    assert "its times mean little" not in html(report(STUDY))


def test_the_machine_is_described_with_its_system_and_settings() -> None:
    (outcome,) = place("numpy", 32, 100)
    assert outcome.run is not None
    here = {**IDENTITY, "memory": "24 GiB", "system": "Debian, Linux 6"}
    set_up = replace(outcome, identity=here, run=replace(outcome.run, settings={"torch_tf32": False}))
    page = html(report([set_up]))
    assert all(text in page for text in ("24 GiB", "Debian, Linux 6", "torch_tf32 False"))
