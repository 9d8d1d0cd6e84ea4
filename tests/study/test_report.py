from dataclasses import replace
from math import ceil

import polars as pl
import pytest

from studies import IDENTITY, absent, cell, failed, place, run
from wallsplit.report.document import Paragraph, Section, Table
from wallsplit.report.html import html
from wallsplit.run.manifest import Data, Load, Steps
from wallsplit_study import published
from wallsplit_study.cells import Outcome, latest, measured
from wallsplit_study.frames import summary
from wallsplit_study.grid import first_epochs, grid, medians, taxes
from wallsplit_study.items import items
from wallsplit_study.learning import learning, time_to_target_ns
from wallsplit_study.operations import operation_times, operations, steps, why_shorter
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


def by_steps(approach: str, floor_ns: int, per_step_ns: int, *batches: int) -> list[Outcome]:
    """Return epochs that take a floor and so much per step, of 60,000 samples in batches."""
    outcomes = []
    for batch in batches:
        steps = Steps(ceil(48_000 / batch), ceil(12_000 / batch))
        wall_ns = floor_ns + per_step_ns * (steps.train + steps.validation)
        (outcome,) = place(approach, batch, wall_ns)
        outcomes.append(replace(outcome, run=outcome.run and replace(outcome.run, steps=steps)))
    return outcomes


def test_every_approach_pays_a_floor_an_epoch_and_a_tax_a_step() -> None:
    outcomes = [
        *by_steps("keras-cpu", 250_000_000, 1_000_000, 8, 32, 128, 512),
        *by_steps("numpy", 180_000_000, 100_000, 8, 32, 128),
        *by_steps("jax-cpu", 1, 1, 32, 128),
    ]
    rows = {row[0]: row[1:] for row in taxes(summary(outcomes, "grid").filter(pl.col("n") > 0)).rows}
    assert rows["keras-cpu"][:4] == pytest.approx((250_000_000, 0, 1_000_000, 0), abs=1)
    assert rows["numpy"][:4] == pytest.approx((180_000_000, 0, 100_000, 0), abs=1)
    assert rows["jax-cpu"][:4] == (None, None, None, None), "two batches make a line and no error"
    assert rows["numpy"][4:6] == (180_000_000 + 469 * 100_000, 128)
    assert rows["numpy"][6] == pytest.approx((250 + 1_875) / (180 + 46.9))
    assert rows["keras-gpu, published"][:4] == (2.3e9, None, (6.5e9 - 2.3e9) / 1_875, None)


def test_the_headline_compares_the_same_mathematics_on_the_same_device() -> None:
    outcomes = [*place("keras-cpu", 32, 2_400_000_000), *place("numpy", 32, 480_000_000)]
    outcomes += [*place("numpy", 512, 200_000_000), *place("jax-vmap", 512, 100_000_000)]
    assert report(outcomes).headline == (
        "4 runs measured: an epoch of 2.400 s in keras-cpu at batch 32 takes 200 ms in numpy at batch 512: the same "
        "mathematics, 12 × faster, no hardware changed (5.0 × at batch 32, in numpy)"
    )
    on_gpu = [replace(one, run=one.run and replace(one.run, device="gpu")) for one in place("cupy", 32, 1)]
    assert report([*outcomes[:2], *on_gpu]).headline.endswith(
        "takes 480 ms in numpy at batch 32: the same mathematics, 5.0 × faster, no hardware changed"
    )


def test_first_epochs_are_kept_apart_and_say_what_was_paid_once() -> None:
    (compiled,) = place("jax-cpu", 32, 100)
    assert compiled.run is not None
    compiled = replace(compiled, run=replace(compiled.run, results={"compile_wall_ns": 1_000}))
    rows = first_epochs(summary([*place("keras-cpu", 32, 100), compiled], "grid")).rows
    assert rows == (("keras-cpu", 32, 500, 100, None, 400), ("jax-cpu", 32, 500, 100, 1_000, 1_400))


def test_the_published_slowest_epoch_belongs_to_a_batch_of_about_10() -> None:
    section = grid(STUDY)
    assert section is not None
    said = " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))
    steps = (11.3 - 1.4) / ((4.4 - 1.4) / 1_875)
    assert f"keras-cpu's 11.3 s are about {round(steps, -1):,.0f} steps, a batch of about {60_000 / steps:.0f}" in said
    assert round(60_000 / steps) == 10


def test_an_extrapolated_epoch_is_shown_as_one_and_counts_as_the_whole() -> None:
    (part,) = place("cupy-sample", 32, 20)
    assert part.run is not None
    results = {"extrapolated_to_samples": 48_000, "extrapolated_epoch_wall_ns": [9_000_000_000, 4_000_000_000]}
    part = replace(
        part,
        run=replace(part.run, results=results, data=Data("mnist", "a file", 960, 240), steps=Steps(30, 8)),
    )
    (row,) = summary([part], "grid").iter_rows(named=True)
    assert (row["median_ns"], row["train_samples"], row["extrapolated_from"]) == (4_000_000_000, 48_000, 960)
    assert row["steps"] == 38 * 50
    assert row["first_epoch_ns"] == 9_000_000_000
    assert medians(summary([part], "grid")).rows == (("cupy-sample", "≈ 4.000 s, from 960 samples"),)
    assert "≈ 4.000 s, from 960 samples" in html(report([part]))
    assert time_to_target_ns(part, 0.1) is None, "its epochs are a part of an epoch"


def test_published_times_stand_beside_whole_epochs_only() -> None:
    ours = {row[:2]: row[3] for row in table(grid(STUDY), 3).rows}
    assert ours["keras-cpu", 32] == 8_000_000_000
    assert ours["keras-cpu", "best"] == 600_000_000
    assert ours["keras-gpu", 32] is None
    short = [replace(one, run=one.run and replace(one.run, data=None)) for one in STUDY]
    assert {row[3] for row in table(grid(short), 3).rows} == {None}


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
    assert rows[0] == ("numpy", 50_000, None, None, None, 1_000_000, 1_500_000_000, 20.0, None)


@pytest.mark.parametrize(
    ("back_to_back", "shortest", "why"),
    [
        (900_000, 1_100_000, "steps overlap: an epoch waits at its end only, and so does this one in 900 µs"),
        (
            1_050_000,
            990_000,
            "steps overlap: an epoch waits at its end only, and so does this one in 1.05 ms, which is",
        ),
        (1_150_000, 990_000, "scatter: alone, the shortest repeat took 990 µs"),
        (1_150_000, 1_050_000, "not explained by overlap or scatter"),
        (None, None, "not explained by overlap or scatter"),
    ],
)
def test_a_step_of_an_epoch_is_never_shorter_than_alone_without_a_reason(
    back_to_back: int | None, shortest: int | None, why: str
) -> None:
    assert (why_shorter(1_000_000, 1_100_000, back_to_back, shortest) or "").startswith(why)
    assert why_shorter(1_100_000, 1_100_000, back_to_back, shortest) is None


def test_steps_back_to_back_and_eager_ones_stand_beside_the_compiled_step() -> None:
    timed = replace(run(1, back_to_back_step_wall_ns=900_000), step_wall_ns=(1_100_000,))
    outcomes = [
        measured(cell("jax", 1, "ops", "train-step"), IDENTITY, timed),
        measured(cell("jax, eager", 1, "ops", "train-step"), IDENTITY, replace(run(1), step_wall_ns=(7_000_000,))),
        *place("jax-cpu", 32, 1_500_000_000),
    ]
    (row, *_) = table(steps(outcomes)).rows
    assert row[2:6] == (7_000_000, 1_100_000, 900_000, 1_000_000)
    assert str(row[-1]).startswith("steps overlap")


def test_what_is_waited_for_after_an_operation_is_said_as_the_runs_say_it() -> None:
    timed = run(1, operations=[{"name": "ReLU", "phase": "forward", "mean_ns": 1}], wait="nothing: it has computed")
    section = operations([measured(cell("numpy", 1, "ops", "op-timing"), IDENTITY, timed)])
    assert table(section, 1).rows == (("numpy", "nothing: it has computed"),)


def test_models_trained_side_by_side_take_as_long_as_the_slowest_and_one_by_one_as_all() -> None:
    models = [{"wall_ns": [1, 2]}, {"wall_ns": [5, 5]}]
    pool = [
        measured(cell("a", 1, "search", "pool"), IDENTITY, run(parameters={"processes": n}, models=models))
        for n in (1, 2)
    ]
    assert [training_ns(one) for one in pool] == [13, 10]
    assert len(table(search(pool)).rows) == 1


def test_what_processes_compute_and_spin_together_stands_beside_what_a_search_takes() -> None:
    used = replace(run(100), load=Load(cpu_time_ns=800))
    outcomes = [measured(cell(name, 1, "search", "pool"), IDENTITY, used) for name in ("five", "five of one thread")]
    shown = table(search(outcomes))
    column = [column.title for column in shown.columns].index("CPU time")
    assert [row[column] for row in shown.rows] == [800, 800]


def iris(every: int, wall_ns: int, calls: int, approach: str = "iris-cpu, printing") -> Outcome:
    """Return a run of the Iris loop whose 20,000 epochs took so long together."""
    return measured(
        cell(approach, 1, "item", "iris-cpu", item_every=str(every)),
        IDENTITY,
        run(wall_ns, parameters={"item_every": every, "epochs": 20_000}, item_calls=calls, item_wall_ns=7),
    )


def test_calls_are_those_of_the_program_its_printing_included() -> None:
    shown = table(items([iris(100, 20_000_000, 400)]))
    assert shown.rows == (
        ("iris-cpu, printing", 100, 400, 7, 20_000, 20_000_000, 20_000_000, 20_000_000, 1, "measured"),
    )


def test_the_published_rows_made_at_least_200_calls_more_than_they_name() -> None:
    rows = table(items([iris(100, 1, 400)]), 1).rows
    assert [row[:3] for row in rows] == [(one.item_every, one.calls, one.calls + 200) for one in published.ITEMS]
    assert rows[-1][2] == 210


def test_what_a_call_costs_is_the_slope_over_the_calls_of_each_program() -> None:
    runs = [iris(every, 5_000_000 + 80 * calls, calls) for every, calls in ((1, 20_200), (10, 2_200), (100, 400))]
    runs += [iris(100, 9, 200, "iris-cpu, no printing")]
    rows = {row[0]: row[1:] for row in table(items(runs), 2).rows}
    assert rows["iris-cpu, printing"] == pytest.approx((80, 0, 5_000_000, 0), abs=1e-3)
    assert rows["iris-cpu, no printing"] == (None, None, None, None)
    slope, error = rows["published, GPU"][:2]
    assert slope == pytest.approx(46_000, rel=0.05)  # 11.0 s less about 10.1 s, over 19,800 calls
    assert error == pytest.approx(15_800, rel=0.01)


def test_what_forward_skips_is_shown_as_the_run_found_it() -> None:
    ways = [
        {"way": "model(x)", "hooks_fired": ["model", "0"], "median_ns": 900},
        {"way": "model.forward(x)", "hooks_fired": ["0"], "median_ns": 800},
    ]
    outcome = measured(cell("iris-cpu", 1, "item", item_every="1"), IDENTITY, run(1, item_calls=1, calls=ways))
    assert table(items([outcome]), 3).rows == (("model(x)", "model, 0", 900), ("model.forward(x)", "0", 800))


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
    assert [(row["asked_device"], row["median_ns"]) for row in summary(outcomes, "causes").iter_rows(named=True)] == [
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
    assert keys == ["notes", "grid", "learning", "latency", "machine", "claims"]


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
