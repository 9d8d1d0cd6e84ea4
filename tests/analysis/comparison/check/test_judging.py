"""Budgets against traces: kept, broken, and unknown where what was recorded proves neither."""

from pathlib import Path

import pytest

from comparisons import repeat, total
from wallsplit.comparison.check import baseline
from wallsplit.comparison.check.baseline import Baseline
from wallsplit.comparison.check.budgets import Budget, read
from wallsplit.comparison.check.judging import Judgement, judge, other_machine
from wallsplit.comparison.repeats import Machine, Repeat
from wallsplit.errors import BudgetError


def budget(folder: Path, figure: str, **limits: str | int) -> Budget:
    lines = "\n".join(f"{key} = {value!r}" for key, value in limits.items())
    path = folder / "wallsplit.toml"
    path.write_text(f'[check]\nbaseline = "b.json"\n[[budget]]\nfigure = "{figure}"\n{lines}\n', encoding="utf-8")
    return read(path).budgets[0]


def judged(folder: Path, repeats: list[Repeat], figure: str, **limits: str | int) -> Judgement:
    return judge(budget(folder, figure, **limits), repeats, None)


def status(folder: Path, repeats: list[Repeat], figure: str, **limits: str | int) -> str:
    return judged(folder, repeats, figure, **limits).status


USUAL = repeat(
    {"gpu_kernel": 600, "gpu_memcpy": 100, "cuda_sync": 100, "host": 200},
    {
        "kernels": {"gemm_a": total(2, 400), "gemm_b": total(1, 200)},
        "api": {"cudaLaunchKernel": total(3, 30), "cuLaunchKernel": total(1, 5), "cudaMemcpy": total(2, 7)},
        "nvtx": {"step *": total(1, 900)},
    },
)


@pytest.mark.parametrize(
    ("figure", "limit", "kept"),
    [
        ("wall", "1000 ns", True),
        ("wall", "999 ns", False),
        ("host", "20 %", True),
        ("host", "19.9 %", False),
        ("cuda.sync", "100 ns", True),
        ("computing", "599 ns", False),
        ("busy_ratio", "70 %", True),
        ("busy_ratio", "69.9 %", False),
        ("kernel:gemm_*", "600 ns", True),
        ("kernel:gemm_b", "19 %", False),
        ("api:*Launch*", "35 ns", True),
        ("api:*Launch*", "34 ns", False),
        ("nvtx:step \\\\*", "900 ns", None),
        ("nvtx:step*", "900 ns", True),
        ("count:launch", 4, True),
        ("count:launch", 3, False),
        ("count:sync", 0, True),
    ],
)
def test_figures_are_what_their_names_say(tmp_path: Path, figure: str, limit: str | int, kept: bool | None) -> None:
    expected = {True: "kept", False: "broken", None: "unknown"}[kept]
    assert status(tmp_path, [USUAL], figure, max=limit) == expected


def test_a_min_is_broken_from_below_and_one_broken_limit_breaks_the_budget(tmp_path: Path) -> None:
    assert status(tmp_path, [USUAL], "busy_ratio", min="70 %") == "kept"
    assert status(tmp_path, [USUAL], "busy_ratio", min="70.1 %") == "broken"
    assert status(tmp_path, [USUAL], "busy_ratio", min="10 %", max="20 %") == "broken"


def test_the_median_of_the_traces_is_judged(tmp_path: Path) -> None:
    traces = [repeat({"host": ns}) for ns in (10, 11, 90)]
    assert status(tmp_path, traces, "wall", max="11 ns") == "kept"
    assert status(tmp_path, traces[1:], "wall", max="50 ns") == "broken"


INCOMPLETE = repeat({"gpu_kernel": 100, "host": 866, "cuda_launch": 34}, complete=False)


@pytest.mark.parametrize(
    ("figure", "limit", "expected"),
    [
        ("host", {"max": "50 %"}, "unknown"),  # at most 86.6 %: it may be less
        ("host", {"max": "90 %"}, "kept"),
        ("host", {"min": "50 %"}, "unknown"),
        ("host", {"min": "90 %"}, "broken"),
        ("gpu.kernel", {"max": "50 %"}, "unknown"),  # at least 10 %: it may be more
        ("gpu.kernel", {"max": "5 %"}, "broken"),
        ("gpu.kernel", {"min": "50 %"}, "unknown"),
        ("gpu.kernel", {"min": "5 %"}, "kept"),
        ("busy_ratio", {"min": "90 %"}, "unknown"),
        ("wall", {"max": "1 us"}, "kept"),
        ("host", {"max": "50 %", "when_unknown": "skip"}, "skipped"),
    ],
)
def test_a_bound_keeps_or_breaks_only_what_it_proves(
    tmp_path: Path, figure: str, limit: dict[str, str], expected: str
) -> None:
    found = judged(tmp_path, [INCOMPLETE], figure, **limit)
    assert found.status == expected
    if figure == "host":
        assert found.text.startswith("at most 86.6 %")


def test_what_was_not_measured_is_unknown_and_so_is_a_pattern_that_matches_nothing(tmp_path: Path) -> None:
    cpu_run = repeat({"gpu_kernel": None, "gpu_graph": None, "host": 5})
    assert status(tmp_path, [USUAL, cpu_run], "gpu.kernel", max="90 %") == "unknown"
    assert status(tmp_path, [USUAL], "kernel:gemn*", max="1 s") == "unknown"
    assert status(tmp_path, [USUAL], "kernel:*nccl*", max="0 ns") == "kept"


def against(folder: Path, old: list[float], new: list[int], figure: str = "wall", **limits: str) -> Judgement:
    asked = budget(folder, figure, **{"regression": "3 %", **limits})
    return judge(asked, [repeat({"host": ns}) for ns in new], Baseline("run", {figure: tuple(old)}, Machine()))


def test_a_regression_is_broken_only_where_the_whole_interval_is_beyond_the_limit(tmp_path: Path) -> None:
    old = [1000.0, 1001, 999]
    assert against(tmp_path, old, [1100, 1101, 1099]).status == "broken"
    assert against(tmp_path, old, [1031, 1032, 1030]).status == "kept"  # +3.1 %, and perhaps less
    assert against(tmp_path, [1000.0, 1200, 900], [1100, 1320, 990]).status == "kept"  # too noisy to tell
    assert against(tmp_path, old, [900, 901, 899]).status == "kept"


def test_a_regression_within_the_floor_is_none(tmp_path: Path) -> None:
    assert against(tmp_path, [1000.0, 1001, 999], [1100, 1101, 1099], floor="100 ns").status == "kept"
    assert against(tmp_path, [1000.0, 1001, 999], [1100, 1101, 1099], floor="99 ns").status == "broken"


def test_single_runs_break_a_budget_only_by_more_than_a_tenth_and_that_is_said(tmp_path: Path) -> None:
    assert against(tmp_path, [1000.0], [1099]).status == "kept"
    found = against(tmp_path, [1000.0], [1101])
    assert found.status == "broken"
    assert "single runs: only more than 10 % counts" in found.text
    assert against(tmp_path, [1000.0, 1000.0], [1101, 1101, 1101]).status == "broken"
    assert against(tmp_path, [1000.0], [1190], regression="20 %").status == "kept"


def test_a_busier_gpu_is_no_regression_and_a_less_busy_one_is(tmp_path: Path) -> None:
    asked = budget(tmp_path, "busy_ratio", regression="3 %")
    earlier = Baseline("run", {"busy_ratio": (0.80, 0.801, 0.799)}, Machine())
    for kernel_ns, expected in ((900, "kept"), (700, "broken"), (800, "kept")):
        traces = [repeat({"gpu_kernel": kernel_ns + i, "host": 1000 - kernel_ns - i}) for i in range(3)]
        assert judge(asked, traces, earlier).status == expected


def test_without_its_figure_in_the_baseline_a_regression_is_unknown(tmp_path: Path) -> None:
    asked = budget(tmp_path, "wall", regression="3 %")
    assert judge(asked, [USUAL], Baseline("run", {}, Machine())).status == "unknown"


def test_a_baseline_is_read_as_it_was_written_and_holds_numbers_and_the_machine_only(tmp_path: Path) -> None:
    one = repeat({"host": 10, "gpu_kernel": 5}, path="/home/someone/secret.sqlite")
    object.__setattr__(one, "machine", Machine(("NVIDIA H100",), "Xeon"))
    asked = [budget(tmp_path, "wall", max="1 s"), budget(tmp_path, "busy_ratio", max="1 %")]
    found = baseline.baseline(asked, [one, one], "run")
    assert found.figures == {"wall": (15.0, 15.0), "busy_ratio": (1 / 3, 1 / 3)}
    text = baseline.written(found)
    assert "secret" not in text
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    assert baseline.read(tmp_path / "b.json") == found


def test_lower_bounds_are_no_baseline(tmp_path: Path) -> None:
    asked = [budget(tmp_path, "host", max="1 s"), budget(tmp_path, "wall", max="1 s")]
    assert baseline.baseline(asked, [INCOMPLETE], "run").figures.keys() == {"wall"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": 2}', '{"schema_version": 1, "per": "run"}'])
def test_what_is_no_baseline_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    with pytest.raises(BudgetError, match="write it anew with --write-baseline"):
        baseline.read(tmp_path / "b.json")


@pytest.mark.parametrize("values", ["[]", '["x"]', "[NaN]", "[-1]", "3"])
def test_a_baseline_of_no_numbers_is_refused(tmp_path: Path, values: str) -> None:
    text = f'{{"schema_version": 1, "per": "run", "figures": {{"wall": {{"values": {values}}}}}}}'
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    with pytest.raises(BudgetError, match="is no baseline"):
        baseline.read(tmp_path / "b.json")


@pytest.mark.parametrize(
    ("there", "warns"),
    [
        (Machine(("A100",), "Xeon"), False),
        (Machine(("H100",), "Xeon"), True),
        (Machine(("A100",), "EPYC"), True),
        (Machine(), False),
    ],
)
def test_a_baseline_of_another_machine_is_a_warning(there: Machine, warns: bool) -> None:
    here = repeat({"host": 1})
    object.__setattr__(here, "machine", Machine(("A100",), "Xeon"))
    assert (other_machine([here], Baseline("run", {}, there)) is not None) == warns
