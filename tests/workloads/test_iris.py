"""Promises of R2's workload: its data as published, every call of item() counted, hooks skipped by forward shown."""

from typing import Any

import numpy as np
import pytest

from wallsplit_workloads import iris_cpu, torch_training
from wallsplit_workloads.marks import Marks, RecordedMarks
from wallsplit_workloads.workload import Result, RunContext, resolve
from workload_runs import need

pytestmark = pytest.mark.frameworks


@pytest.fixture(autouse=True)
def _frameworks() -> None:
    need("torch", "sklearn")


def trained(marks: Marks | None = None, **settings: str) -> tuple[Result, list[str]]:
    """Return what a short run measured, and the lines it printed."""
    printed: list[str] = []
    values = resolve(iris_cpu.WORKLOAD, {"epochs": "250", **settings})
    return iris_cpu.run(RunContext(values, marks=marks or Marks(), progress=printed.append)), printed


def test_four_fifths_are_for_training_and_the_scaling_knows_nothing_of_the_rest() -> None:
    from sklearn.datasets import load_iris

    flowers = iris_cpu.iris()
    assert (flowers.x_train.shape, flowers.x_test.shape) == ((120, 4), (30, 4))
    assert flowers.x_train.min(axis=0).tolist() == [0, 0, 0, 0]
    assert flowers.x_train.max(axis=0).tolist() == [1, 1, 1, 1]
    x, y = load_iris(return_X_y=True)
    order = np.random.RandomState(42).permutation(150)
    tested, kept = x[order[:30]], x[order[30:]]
    expected = (tested - kept.min(axis=0)) / (kept.max(axis=0) - kept.min(axis=0))
    assert np.allclose(flowers.x_test, expected, atol=1e-6)
    assert flowers.y_test.tolist() == y[order[:30]].tolist()


def test_printing_a_loss_is_a_call_of_item_and_is_counted_as_one() -> None:
    result, printed = trained(item_every="50")
    assert [line.split(",")[0] for line in printed] == ["epoch 0", "epoch 100", "epoch 200"]
    assert (result.results["print_calls"], result.results["item_calls"]) == (3, 3 + 5)


def test_without_the_printing_only_the_calls_asked_for_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    asked: list[int] = []
    original = torch.Tensor.item

    def item(tensor: torch.Tensor) -> Any:
        asked.append(1)
        return original(tensor)

    monkeypatch.setattr(torch.Tensor, "item", item)
    result, printed = trained(item_every="100", print_every="0")
    assert printed == []
    assert len(asked) == result.results["item_calls"] == 2
    trained(item_every="100")
    assert len(asked) == 2 + 2 + 3, "formatting a tensor calls item()"


def test_the_device_is_waited_for_before_the_first_clock_and_before_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    def clock() -> int:
        events.append("clock")
        return 0

    monkeypatch.setattr(torch_training, "waited", lambda device: events.append("wait"))
    monkeypatch.setattr(iris_cpu, "perf_counter_ns", clock)
    trained(epochs="2", item_every="9", print_every="0")
    assert events == ["wait", "clock", "clock", "wait", "clock"]


def test_the_epochs_cover_the_loop_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(0, 10_000, 7))
    monkeypatch.setattr(iris_cpu, "perf_counter_ns", lambda: next(ticks))
    result, _ = trained(epochs="5", item_every="9", print_every="0")
    assert sum(epoch.wall_ns for epoch in result.epochs) == 5 * 7


def test_it_learns_to_tell_the_flowers_of_the_other_fifth_apart() -> None:
    result, _ = trained(epochs="2000", rate="0.1", item_every="500")
    accuracy = result.results["test_accuracy"]
    assert isinstance(accuracy, float)
    assert accuracy > 0.9


def test_calling_forward_skips_the_models_own_hooks_and_keeps_those_of_its_layers() -> None:
    result, _ = trained(epochs="1")
    calls: Any = result.results["calls"]
    fired = {call["way"]: call["hooks_fired"] for call in calls}
    assert fired == {"model(x)": ["model", "0", "1", "2"], "model.forward(x)": ["0", "1", "2"]}
    assert all(call["median_ns"] > 0 for call in calls)


def test_both_ways_to_call_the_model_train_it_alike() -> None:
    called, forwarded = (trained(call=way)[0].epochs[-51].loss for way in ("call", "forward"))
    assert called == forwarded
    assert called is not None


def test_layers_get_hooks_only_where_their_ranges_are_recorded() -> None:
    for marks, hooks in ((Marks(), 0), (RecordedMarks(), 3)):
        model = torch_training.perceptron(iris_cpu.LAYERS)
        torch_training.mark_layers(model, marks)
        assert sum(len(layer._forward_hooks) for layer in model.modules()) == hooks
