"""Promises that need the frameworks: the same mathematics everywhere, marks counted, no loss changed by a remedy.

Every framework is imported in a process of its own, once or twice in this file: TensorFlow takes ten seconds.
"""

from pathlib import Path
from typing import Any

import pytest

from wallsplit.run.manifest import RunManifest, Steps
from workload_runs import need, run, small_set

pytestmark = pytest.mark.frameworks

BATCH, TRAIN_STEPS, VALIDATION_STEPS = 32, 5, 2  # of 160 training samples in 200


def mnist_run(folder: Path, name: str, *arguments: str) -> RunManifest:
    """Return two epochs in the samples' own order, which Keras can keep, too."""
    data = str(small_set(folder, 200))
    return run(folder, name, "--epochs", "2", "--set", "shuffle=false", "--data", data, *arguments)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> RunManifest:
    return mnist_run(tmp_path_factory.mktemp("numpy"), "numpy")


def assert_same_losses(found: RunManifest, reference: RunManifest) -> None:
    assert len(found.epochs) == len(reference.epochs) == 2
    for ours, theirs in zip(found.epochs, reference.epochs, strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-4)
        assert ours.accuracy == pytest.approx(theirs.accuracy, abs=1e-6)
        assert ours.validation_loss == pytest.approx(theirs.validation_loss, rel=1e-4)
    assert found.steps == reference.steps == Steps(TRAIN_STEPS, VALIDATION_STEPS)
    assert found.arithmetic == reference.arithmetic


@pytest.mark.parametrize(
    ("name", "module", "prepared"),
    [
        ("numpy-sample", "numpy", ["start", "data"]),
        ("keras-cpu", "tensorflow", ["start", "imports", "data"]),
        ("jax-cpu", "jax", ["start", "imports", "data", "compilation"]),
    ],
)
def test_every_library_computes_the_same_losses_and_tells_what_came_before(
    name: str, module: str, prepared: list[str], reference: RunManifest, tmp_path: Path
) -> None:
    need(module)
    found = mnist_run(tmp_path, name)
    assert_same_losses(found, reference)
    assert found.marks["step"] == len(found.step_wall_ns or ()) == 2 * TRAIN_STEPS
    assert found.marks["validation_step"] == 2 * VALIDATION_STEPS
    assert found.marks["epoch"] == found.marks["validation"] == 2
    assert found.threads
    assert found.wall_ns is not None
    assert list(found.preparation_ns) == prepared
    assert sum(found.preparation_ns.values()) - found.preparation_ns["start"] < found.wall_ns


def test_vmap_and_pool_train_each_rate_as_if_it_were_alone(reference: RunManifest, tmp_path: Path) -> None:
    need("jax")
    mapped = mnist_run(tmp_path, "jax-vmap").results["models"]
    pooled = mnist_run(tmp_path, "pool", "--set", "processes=2", "--set", "threads=1").results["models"]
    assert isinstance(mapped, list)
    assert isinstance(pooled, list)
    assert [model["rate"] for model in mapped] == pytest.approx([0.001, 0.01, 0.1, 1, 10])
    assert mapped[2]["losses"] == pytest.approx([epoch.loss for epoch in reference.epochs], rel=1e-4)
    for one, other in zip(mapped[:3], pooled[:3], strict=True):  # at 1 and 10 training diverges, rounding decides how
        assert one["losses"] == pytest.approx(other["losses"], rel=1e-4)


def test_the_pool_counts_the_ranges_of_its_children(tmp_path: Path) -> None:
    found = mnist_run(tmp_path, "pool", "--set", "models=2", "--set", "processes=2", "--set", "threads=1")
    assert found.marks["step"] == 2 * 2 * TRAIN_STEPS
    assert found.threads["processes"] == 2


def test_iris_asks_for_the_loss_as_often_as_told(tmp_path: Path) -> None:
    need("torch", "sklearn")
    found = run(tmp_path, "iris-cpu", "--epochs", "60", "--set", "item_every=20")
    assert found.results["item_calls"] == 3 + 1  # epoch 0 prints its loss
    curve: Any = found.results["loss_curve"]
    assert [epoch for epoch, _ in curve] == [20, 40, 60]
    assert curve[-1][1] < curve[0][1]
    assert found.marks == {
        **dict.fromkeys(("epoch", "step", "data", "forward", "backward", "update"), 60),
        **dict.fromkeys(("Linear 0", "ReLU 1", "Linear 2"), 60),
        "metrics": 3,
        "print": 1,
    }
    assert found.threads == {"torch_intra_op": 1}
    assert found.data is not None
    assert found.data.train_samples == 120


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("loader-bound", ("--set", "workers=1", "--set", "shuffle=false")),
        ("transfer-bound", ("--set", "batched=true")),
    ],
)
def test_a_remedy_changes_no_loss(name: str, remedy: tuple[str, ...], tmp_path: Path) -> None:
    need("torch", "sklearn")
    plain_order = ("--set", "shuffle=false") if name == "loader-bound" else ()
    data = ("--epochs", "1", "--data", str(small_set(tmp_path, 200)))
    ill, cured = run(tmp_path, name, *data, *plain_order), run(tmp_path, name, *data, *remedy)
    assert ill.marks["step"] == cured.marks["step"] == TRAIN_STEPS
    assert cured.epochs[0].loss == pytest.approx(ill.epochs[0].loss, rel=1e-4)


def test_the_other_torch_workloads_train(tmp_path: Path) -> None:
    need("torch", "sklearn")
    data = ("--epochs", "1", "--data", str(small_set(tmp_path, 200)))
    small = run(tmp_path, "too-small", *data, "--batch", "30")
    assert small.steps == Steps(5, 0)  # of 160 samples, 10 are left out
    mixed = run(tmp_path, "mixed-precision", *data, "--batch", "32", "--set", "precision=bf16", "--set", "width=16")
    assert mixed.model is not None
    assert mixed.model.layers == (784, 16, 16, 10)
    assert mixed.epochs[0].loss == pytest.approx(2.3, abs=0.4)  # ln 10, that of guessing, at the start
    assert mixed.epochs[0].validation_loss == pytest.approx(2.3, abs=0.4)
    assert mixed.settings["torch_matmul_precision"] == "highest"
    assert mixed.peak_memory_bytes["process"] > 2**20


def test_word2vec_reports_its_words_per_second(tmp_path: Path) -> None:
    need("gensim")
    found = run(tmp_path, "word2vec", "--epochs", "2", "--batch", "1000", "--set", "tokens=5000", "--set", "workers=2")
    assert len(found.epochs) == found.marks["epoch"] == 2
    assert found.steps == Steps(5)  # jobs of a thousand words
    assert found.marks["step"] == 2 * 5
    assert found.data is not None
    assert found.data.train_samples == 5_000
    assert isinstance(found.results["words_per_second"], float)
    assert found.arithmetic is not None
    pairs = found.results["pairs_per_epoch"]
    assert isinstance(pairs, int)
    assert 0 < pairs < 5_000 * 5.3  # as many as without subsampling
    assert found.arithmetic.flops_per_epoch == pytest.approx(pairs * 3_800, rel=1e-3)
    assert found.results["bytes_touched_per_epoch"] == pytest.approx(pairs * 5_600, rel=1e-3)
    assert {"row_bytes_per_second", "cached_row_bytes_per_second"} < found.results.keys()


def test_microbenchmarks_run_on_jax(tmp_path: Path) -> None:
    need("jax")
    found = run(tmp_path, "op-timing", "--steps", "5", "--set", "backend=jax")
    assert "jax" in found.versions
    assert found.marks["X @ W1 + b1"] == 15  # 10 of them to warm up
