"""Promises of `python -m wallsplit_workloads`: a manifest or one sentence, never half of either."""

from pathlib import Path

import pytest

from wallsplit.run.manifest import Steps, read
from wallsplit_workloads.__main__ import REFUSED, main
from workload_runs import need, small_set


def test_a_run_leaves_its_manifest_and_prints_a_line_per_epoch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, result = small_set(tmp_path), tmp_path / "x.run.json"
    command = ["numpy", "--batch", "50", "--epochs", "3", "--steps", "4", "--data", str(data), "--set", "rate=0.5"]
    assert main([*command, "--result", str(result)]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["epoch 1", "epoch 2", "epoch 3"]
    manifest = read(result)
    assert manifest.workload == "numpy"
    assert manifest.parameters["rate"] == 0.5
    assert manifest.steps == Steps(4, 1)
    assert manifest.marks["step"] == 12
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mnist.npz", "x.run.json"]


def test_microbenchmarks_time_what_they_are_asked_to(tmp_path: Path) -> None:
    for name in ("op-timing", "matmul", "train-step"):
        assert main([name, "--steps", "5", "--epochs", "2", "--result", str(tmp_path / name)]) == 0
        manifest = read(tmp_path / name)
        assert manifest.marks["step"] == len(manifest.step_wall_ns or ()) == 10
        assert len(manifest.epochs) == 2
    operations = read(tmp_path / "op-timing").results["operations"]
    assert isinstance(operations, list)
    assert [row["name"] for row in operations][:3] == ["X @ W1 + b1", "ReLU", "H @ W2 + b2"]
    assert len(operations) == 16


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["nympy"], "error: no workload 'nympy' (did you mean 'numpy'?); there are numpy,"),
        (["numpy", "--batch", "0"], "error: batch=0: less than 1"),
        (["numpy", "--set", "bach=1"], "error: numpy has no parameter 'bach' (did you mean 'batch'?); it takes"),
        (["numpy", "--set", "rate"], "error: --set rate: not of the form key=value"),
        (["numpy", "--data", "/nonexistent"], "error: /nonexistent: no mnist.npz"),
    ],
)
def test_what_cannot_be_run_is_one_line_and_exit_code_2(
    command: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) == REFUSED == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1


def test_a_manifest_that_cannot_be_written_is_exit_code_1_for_the_workload_did_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["matmul", "--steps", "1", "--result", "/nonexistent/x"]) == 1
    assert capsys.readouterr().err.startswith("error: /nonexistent/x: the manifest cannot be written (")


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("name", "setting", "message"),
    [
        ("loader-bound", "pin_memory=true", "error: pin_memory=true: only memory that a GPU reads is pinned"),
        ("too-small", "cuda_graph=true", "error: cuda_graph=true: a CPU has no CUDA graphs"),
    ],
)
def test_a_remedy_for_gpus_is_refused_on_a_cpu(
    name: str, setting: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    need("torch", "sklearn")
    assert main([name, "--set", setting]) == REFUSED
    assert capsys.readouterr().err.startswith(message)


def test_a_crash_is_no_sentence_but_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("wallsplit_workloads.running.run", crash)
    with pytest.raises(ZeroDivisionError):
        main(["numpy"])


def test_wrong_usage_is_exit_code_2() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["numpy", "--bogus"])
    assert caught.value.code == 2
