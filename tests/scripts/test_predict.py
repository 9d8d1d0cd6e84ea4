"""`predict` from the outside."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from builders import TraceBuilder
from recorded_runs import TRAINING
from wallsplit.comparison.predict.changes import QUESTIONS as EVERY
from wallsplit.run.manifest import to_json
from wallsplit_scripts.main import cli, run
from wallsplit_scripts.predict import QUESTIONS

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "predict.schema.json").read_text(encoding="utf-8"))


def a_trace(path: Path, launches: int = 0) -> Path:
    build = TraceBuilder(path)
    for i in range(20):
        at = 100_000 * i
        build.api("cudaLaunchKernel", at, at + 10_000, corr=i).kernel(at + 12_000, at + 60_000, corr=i, streamId=7)
        build.api("cudaStreamSynchronize", at + 10_000, at + 70_000)
    for i in range(launches):
        build.api("cudaLaunchKernel", 3_000_000 + 10_000 * i, 3_005_000 + 10_000 * i, corr=500 + i)
    return build.write()


def test_the_questions_of_the_command_are_those_of_the_library() -> None:
    assert tuple(question.name for question in EVERY) == QUESTIONS


def test_it_says_what_each_change_gives_and_what_is_never_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cli, ["predict", str(a_trace(tmp_path / "x.sqlite"))]) == 0
    out = capsys.readouterr().out
    assert "Unchanged replay 0.0 % (within 5 % is needed, and proves little)" in out
    assert "gpu-infinite" in out
    assert "Never predicted: fused or other kernels" in out


def test_only_what_is_asked_is_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["predict", str(a_trace(tmp_path / "x.sqlite")), "--what", "graphs"]) == 0
    out = capsys.readouterr().out
    assert "graphs" in out
    assert "gpu-x2" not in out
    assert run(cli, ["predict", str(tmp_path / "x.sqlite"), "--what", "magic"]) == 2
    assert run(cli, ["predict", str(tmp_path / "x.sqlite"), "--what", "without:"]) == 2
    assert run(cli, ["predict", str(tmp_path / "x.sqlite"), "--what", "without:data"]) == 1
    assert "no thread that makes CUDA calls has an NVTX range" in capsys.readouterr().err


def test_json_is_as_the_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, code, launches in (("x", 0, 0), ("y", 1, 20)):
        assert run(cli, ["predict", str(a_trace(tmp_path / f"{name}.sqlite", launches)), "--json"]) == code
        document = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, SCHEMA)
        assert bool(document["traces"][0]["processes"][0]["refusals"]) is bool(launches)


def test_what_is_refused_says_why_and_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["predict", str(a_trace(tmp_path / "x.sqlite", 20))]) == 1
    out = capsys.readouterr().out
    assert "Nothing is predicted: of the launches, 50.0 % have GPU rows; 99 % are needed." in out
    assert "gpu-x2" not in out


def sentence(out: str) -> str:
    """Return the one sentence that was printed, whatever lines it went on in."""
    first, *others = out.splitlines()
    assert all(line.startswith("  ") for line in others)
    return " ".join([first, *(line.strip() for line in others)])


def test_where_no_kernel_ran_one_sentence_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = TraceBuilder(tmp_path / "x.sqlite")
    for i in range(20):
        at = 100_000 * i
        build.api("cudaMemcpyAsync", at, at + 10_000, corr=i).copy(at + 12_000, at + 60_000, corr=i)
    assert run(cli, ["predict", str(build.write())]) == 1
    said = sentence(capsys.readouterr().out)
    assert "nothing is predicted: no kernel ran, only copies and sets; wallsplit analyze says" in said
    assert said.endswith("which launches failed or are missing.")


def test_without_gpu_work_one_sentence_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = TraceBuilder(tmp_path / "x.sqlite").api("cudaFree", 0, 10_000).write()
    assert run(cli, ["predict", str(trace)]) == 1
    said = sentence(capsys.readouterr().out)
    assert said.count(".") == 2  # of the file's name, and at the end
    assert said.endswith("nothing to replay; record it with nsys profile -t cuda where its kernels run.")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_its_lines_fit_the_terminal(
    columns: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(cli, ["predict", str(a_trace(tmp_path / "x.sqlite"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= columns
    assert any(line.startswith("  gpu-infinite ") and line.endswith(" %") for line in lines)


def test_manifests_of_two_batch_sizes_give_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for batch, ns in ((32, 2_000), (64, 3_000)):
        path = tmp_path / f"b{batch}.run.json"
        epochs = (replace(TRAINING.epochs[0], wall_ns=ns),)
        path.write_text(to_json(replace(TRAINING, parameters={"batch": batch}, epochs=epochs)), encoding="utf-8")
        paths.append(str(path))
    assert run(cli, ["predict", *paths]) == 0
    assert "numpy: a step takes 500 ns + 16 ns a sample, measured at batch 32 and 64." in capsys.readouterr().out


def test_the_errors_of_replays_come_as_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["predict", "--replay-errors", str(a_trace(tmp_path / "x|\x1b.sqlite"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| trace | process | calls |")
    assert lines[2].startswith(r"| x\|\x1b | 1 | 40 | 20 | 1.97 ms | 0.00 % | 0.0 % | yes |")
    assert lines[-1].startswith("1 processes: median error 0.00 %")


@pytest.mark.parametrize("name", ["none.sqlite", "none.run.json"])
def test_what_cannot_be_read_is_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["predict", str(tmp_path / name)]) == 1
    assert capsys.readouterr().err.count("\n") == 1
