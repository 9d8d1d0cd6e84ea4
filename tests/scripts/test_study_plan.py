from dataclasses import replace
from itertools import groupby
from typing import get_args

import pytest

from wallsplit_scripts.study_plan import APPROACHES, BATCHES, QUICK, Wish, plan, recorded
from wallsplit_study.cells import Part, key
from wallsplit_workloads import WORKLOADS
from wallsplit_workloads.workload import find, resolve

PARTS: tuple[Part, ...] = get_args(Part)


def test_every_place_is_measured_once_before_any_is_repeated() -> None:
    cells = plan(["grid"], Wish(approaches=("numpy", "jax-cpu"), batches=(32, 128), repeat=3))
    assert [cell.repeat for cell in cells] == [1] * 4 + [2] * 4 + [3] * 4
    rounds = [[(c.approach, c.settings["batch"]) for c in found] for _, found in groupby(cells, lambda c: c.repeat)]
    assert rounds == [[("numpy", "32"), ("jax-cpu", "32"), ("numpy", "128"), ("jax-cpu", "128")]] * 3


@pytest.mark.parametrize("part", PARTS)
def test_every_planned_cell_is_a_workload_with_parameters_it_accepts(part: Part) -> None:
    cells = plan([part], Wish())
    assert cells
    for cell in cells:
        resolve(find(WORKLOADS, cell.workload), cell.settings)


@pytest.mark.parametrize("part", PARTS)
def test_no_two_planned_cells_are_the_same_measurement(part: Part) -> None:
    keys = [key(cell, {}) for cell in plan([part], Wish())]
    assert len(keys) == len(set(keys))


def test_the_whole_grid_is_planned_by_default() -> None:
    assert len(plan(["grid"], Wish())) == len(APPROACHES) * len(BATCHES) * 3


def test_the_grid_goes_below_the_published_batch_of_32_to_where_its_slowest_point_was() -> None:
    assert min(BATCHES) < 32


def test_the_item_sweep_measures_the_published_program_and_the_same_without_its_printing() -> None:
    cells = plan(["item"], Wish(repeat=1))
    found = {(c.settings["item_every"], c.settings["print_every"]) for c in cells if c.workload == "iris-cpu"}
    assert found == {(every, kept) for every in ("1", "10", "100", "200", "1000", "2000") for kept in ("100", "0")}


def test_the_search_has_keras_in_five_processes_as_published_each_pool_in_threads_of_one_too_and_vmap_on_a_gpu() -> (
    None
):
    cells = [cell for cell in plan(["search"], Wish(repeat=1)) if cell.settings.get("processes") == "5"]
    found = {(cell.settings["backend"], cell.settings.get("threads")) for cell in cells}
    assert found == {("keras", None), ("keras", "1"), ("numpy", None), ("numpy", "1"), ("jax", None)}
    assert "jax-vmap-gpu" in {cell.workload for cell in plan(["search"], Wish())}


def test_the_loop_over_samples_is_limited_on_a_gpu_where_it_takes_89_s_an_epoch() -> None:
    cells = plan(["grid"], Wish(approaches=("cupy-sample", "numpy-sample"), batches=(32,), repeat=1))
    assert [cell.settings.get("samples") for cell in cells] == ["960", None]
    (asked,) = plan(["grid"], Wish(approaches=("cupy-sample",), batches=(32,), repeat=1, settings={"samples": "9"}))
    assert asked.settings["samples"] == "9"


def test_iris_trains_as_many_epochs_as_published_unless_told_otherwise() -> None:
    assert "epochs" not in plan(["item"], Wish())[0].settings  # the workload's own default
    assert resolve(find(WORKLOADS, "iris-cpu"), {})["epochs"] == 20_000
    assert plan(["item"], Wish(epochs=7))[0].settings["epochs"] == "7"


def test_a_parameter_is_given_to_the_workloads_that_have_it_and_varied_ones_stay() -> None:
    wish = Wish(batches=(64,), approaches=("numpy", "jax-cpu"), settings={"threads": "1", "batch": "9"})
    numpy, jax = plan(["grid"], wish)[:2]
    assert numpy.settings == {"epochs": "2", "threads": "1", "batch": "64"}
    assert jax.settings == {"epochs": "2", "batch": "64"}


def test_a_cell_is_recorded_without_the_folder_of_its_data() -> None:
    cell = plan(["grid"], Wish(settings={"data": "/home/somebody/mnist.npz"}))[0]
    assert recorded(cell).settings["data"] == "mnist.npz"


@pytest.mark.parametrize("part", PARTS)
def test_a_quick_study_has_every_part_in_short_runs_that_workloads_accept(part: Part) -> None:
    cells = plan([part], QUICK)
    assert cells
    assert {cell.repeat for cell in cells} == {1}
    whole = {(cell.workload, cell.approach) for cell in plan([part], Wish())}
    for cell in cells:
        values = resolve(find(WORKLOADS, cell.workload), cell.settings)
        assert (cell.workload, cell.approach) in whole
        assert isinstance(values["epochs"], int)
        assert values["epochs"] <= 200


def test_what_a_person_asks_for_counts_in_a_quick_study_too() -> None:
    cells = plan(["grid"], replace(QUICK, batches=(64,), approaches=("numpy",), settings={"steps": "3"}))
    assert [cell.settings for cell in cells] == [{"epochs": "2", "steps": "3", "batch": "64"}]


def test_the_causes_run_on_both_devices_and_a_device_asked_for_chooses_among_the_rows() -> None:
    def devices(*settings: tuple[str, str]) -> set[str]:
        return {cell.settings.get("device", "cpu") for cell in plan(["causes"], Wish(settings=dict(settings)))}

    assert devices() == {"cpu", "cuda"}
    assert devices(("device", "cuda")) == {"cuda"}
    assert devices(("device", "cpu")) == {"cpu"}


def test_numpys_rows_stay_on_the_cpu_whatever_device_is_asked_for() -> None:
    cells = plan(["ops"], Wish(settings={"device": "cuda"}))
    assert {(cell.settings["backend"], cell.settings.get("device")) for cell in cells} == {
        ("numpy", None),
        ("tensorflow", "cuda"),
        ("jax", "cuda"),
    }


def test_every_remedy_that_a_gpu_allows_is_measured() -> None:
    cells = plan(["causes"], Wish(repeat=1))
    on_gpu = [cell.settings for cell in cells if cell.settings.get("device") == "cuda"]
    for remedy in ("cuda_graph", "pin_memory", "non_blocking", "batched"):
        assert any(settings.get(remedy) == "true" for settings in on_gpu), remedy
    assert {settings["workers"] for settings in on_gpu if "workers" in settings} == {"2", "4"}
    assert {settings["precision"] for settings in on_gpu if "precision" in settings} == {"fp32", "tf32", "bf16", "fp16"}
    assert {"adam", None} <= {settings.get("optimizer") for settings in on_gpu}
