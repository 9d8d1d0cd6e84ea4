"""`analyze` from the outside: what it prints, what it writes, how it fails."""

import hashlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import TraceBuilder
from processes import wait_until
from shared_traces import SHARED, TRACES, needs_shared_traces
from wallsplit_scripts.main import COMMANDS, load, run

Analyze = Callable[..., int]
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="signals and limits of Linux")


@pytest.fixture
def analyze(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Analyze:
    """Run the command in an empty folder, without a network."""

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("analyze opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: run(load(COMMANDS[0][1]), [str(a) for a in arguments], name="analyze")


def a_trace(path: Path, name: str = "k") -> Path:
    build = TraceBuilder(path).api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 90, corr=1, name=name)
    return build.api("cudaDeviceSynchronize", 10, 100).write()


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def files(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def test_one_trace_gives_one_sentence_a_balanced_ledger_and_two_pages(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert analyze(a_trace(tmp_path / "run.sqlite")) == 0
    out = capsys.readouterr().out
    assert "The GPU computes 100 % of the time." in out
    assert "100 ns recorded: 22 ns outside, 78 ns from first to last GPU operation; sum = wall, residual 0 ns" in (
        " ".join(out.split())
    )
    assert out.count("Report: ") == 1
    assert {"run.html", "run.md"} <= {p.name for p in (tmp_path / "reports").iterdir()}
    assert not (tmp_path / "reports" / "index.html").exists()


def test_the_users_phases_decide_what_host_code_is_called(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "phases.toml").write_text('data = "shard reader"\n')
    build = TraceBuilder(tmp_path / "run.sqlite").api("cudaLaunchKernel", 0, 10, corr=1).kernel(12, 20, corr=1)
    trace = build.range("ShardReader", 30, 70).api("cudaEventRecord", 90, 100).write()
    assert analyze(trace, "--json", "--phases", tmp_path / "phases.toml") == 0
    (ledger,) = json.loads(capsys.readouterr().out)["traces"][0]["ledgers"]
    assert ledger["host_parts"] == {"host.data": 40, "host.run": 30}


def test_a_phase_that_is_none_is_a_usage_error_that_lists_the_phases(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "phases.toml").write_text('dtaa = "shard reader"\n')
    assert analyze(a_trace(tmp_path / "run.sqlite"), "--phases", tmp_path / "phases.toml") == 2
    assert "'dtaa' is no phase; the phases are compile, comm, data" in " ".join(capsys.readouterr().err.split())


def test_json_is_the_only_thing_on_stdout_and_writes_nothing_unless_asked(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = a_trace(tmp_path / "in" / "run.sqlite")
    assert analyze(trace, "--json") == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (captured.err, [t["path"] for t in document["traces"]]) == ("", [str(trace)])
    assert document["traces"][0]["ledgers"][0]["accounts"]["gpu.kernel"] == 78
    assert [p.name for p in tmp_path.iterdir()] == ["in"]
    assert analyze(trace, "--json", "--report-dir", tmp_path / "out") == 0
    assert (tmp_path / "out" / "run.html").exists()


def test_a_failing_trace_does_not_stop_the_others_and_keeps_its_place(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, broken, two = a_trace(tmp_path / "1.sqlite"), tmp_path / "2.sqlite", a_trace(tmp_path / "3.sqlite")
    broken.write_bytes(b"")
    assert analyze(one, broken, two, "--json", "--report-dir", "out") == 1
    captured = capsys.readouterr()
    assert captured.err == f"wallsplit: {broken}: the file is empty; export the report again\n"
    traces = json.loads(captured.out)["traces"]
    assert [t["path"] for t in traces] == [str(one), str(broken), str(two)]
    assert [t.get("error", "fine") for t in traces][::2] == ["fine", "fine"]
    assert "the file is empty" in traces[1]["error"]
    index = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "the file is empty" in index
    assert str(tmp_path) not in index


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["missing.sqlite"], "missing.sqlite: no such file"),
        (["."], "is a folder"),
        (["run.sqlite", "--window", "5s:6s"], "run.sqlite: window 5s:6s: is outside the trace"),
        (["run.sqlite", "--window", "nvtx:step"], "no such NVTX range"),
        (["run.sqlite", "--report-dir", "run.sqlite/x"], "cannot"),
    ],
)
def test_bad_input_is_one_line_exit_code_1_and_nothing_written(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    a_trace(tmp_path / "run.sqlite")
    before = files(tmp_path)
    assert analyze(*arguments) == 1
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1
    assert files(tmp_path) == before


@pytest.mark.parametrize("blocked", ["taken", "file", "full"])
def test_an_analysis_whose_report_cannot_be_written_is_printed_all_the_same(
    analyze: Analyze,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    blocked: str,
) -> None:
    trace = a_trace(tmp_path / "run.sqlite")
    if blocked == "taken":
        (tmp_path / "reports").mkdir()
        (tmp_path / "reports" / "run.html").write_text("my thesis")
    elif blocked == "file":
        (tmp_path / "reports").write_text("a file")
    else:
        monkeypatch.setattr("wallsplit.report.writing._write_new", full_disk)
    assert analyze(trace, "--tables", "tables" if blocked == "taken" else "reports/tables") == 1
    captured = capsys.readouterr()
    assert "100 ns recorded" in " ".join(captured.out.split())
    last = captured.err.splitlines()[-1]
    assert "--report-dir DIR" in last
    assert "--no-report" in last
    assert (tmp_path / "tables").exists() == (blocked == "taken")  # one is written though the other cannot be


def full_disk(path: Path, content: bytes) -> None:
    raise OSError(28, "No space left on device", str(path))


def test_what_is_printed_is_out_before_a_report_is_begun(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt while reports are written, the slower half, loses nothing of the result."""

    def interrupted(path: Path, content: bytes) -> None:
        path.write_bytes(content[:3])
        raise KeyboardInterrupt

    monkeypatch.setattr("wallsplit.report.writing._write_new", interrupted)
    assert analyze(a_trace(tmp_path / "run.sqlite")) == 130
    assert "100 ns recorded" in " ".join(capsys.readouterr().out.split())
    assert left_in(tmp_path / "reports") == []


@on_linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_while_reports_are_written_leaves_nothing_half_written(tmp_path: Path, number: signal.Signals) -> None:
    code = (
        "import sys, time\nfrom wallsplit.report import writing\nfrom wallsplit_scripts import main\n"
        "def slow(path, content):\n    path.write_bytes(content[:3])\n    time.sleep(600)\n"
        "writing._write_new = slow\nsys.argv = ['wallsplit', 'analyze', 'run.sqlite']\nmain.main()"
    )
    a_trace(tmp_path / "run.sqlite")
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=paths, stdout=subprocess.DEVNULL)
    wait_until(lambda: any((tmp_path / "reports").glob(".*/*")))
    command.send_signal(number)
    assert command.wait(timeout=30) == 128 + number
    assert left_in(tmp_path / "reports") == []


@on_linux
def test_a_disk_that_is_full_leaves_the_result_and_no_half_report(tmp_path: Path) -> None:
    """Stood in for by a limit on the size of files, which the kernel enforces in the middle of a write."""
    a_trace(tmp_path / "run.sqlite")
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from wallsplit_scripts import main; sys.argv = ['wallsplit', 'analyze', 'run.sqlite']; main.main()"
    )
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", limited], cwd=tmp_path, env=paths, capture_output=True, text=True)
    assert done.returncode == 1
    assert "100 ns recorded" in " ".join(done.stdout.split())
    assert done.stderr.startswith("wallsplit: reports: cannot write there (File too large)")
    assert done.stderr.count("\n") == 1
    assert left_in(tmp_path / "reports") == []


def test_a_document_whose_report_cannot_be_written_is_printed_whole(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert analyze(a_trace(tmp_path / "run.sqlite"), "--json", "--report-dir", "file/reports") == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["traces"][0]["ledgers"][0]["accounts"]["gpu.kernel"] == 78
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    "option", ["--top=99999999999999999999", "--jobs=99999999999999999999", "--window=", "--window= "]
)
def test_a_value_nobody_can_mean_is_a_usage_error(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert analyze(a_trace(tmp_path / "run.sqlite"), option) == 2
    assert option.partition("=")[0] in capsys.readouterr().err


def test_a_wrong_option_is_a_usage_error(analyze: Analyze, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyze("--nope") == 2
    assert analyze() == 2
    assert "Usage: analyze" in capsys.readouterr().err


def test_the_same_trace_elsewhere_gives_the_same_bytes(analyze: Analyze, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        trace = a_trace(tmp_path / folder / "run.sqlite")
        assert analyze(trace, "--report-dir", tmp_path / f"out-{folder}", "--tables", tmp_path / f"out-{folder}") == 0
    written = files(tmp_path / "out-a")
    assert len(written) > 10
    assert written == files(tmp_path / "out-b")


def test_traces_of_one_name_are_told_apart_by_their_folders(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traces = [a_trace(tmp_path / folder / "run.sqlite") for folder in ("before", "after")]
    assert analyze(*traces, a_trace(tmp_path / "x" / "index.sqlite")) == 0
    pages = {p.name for p in (tmp_path / "reports").glob("*.html")}
    assert pages == {"before-run.html", "after-run.html", "x-index.html", "index.html"}
    shown = capsys.readouterr().out
    assert all(name in shown for name in (" before/run ", " after/run ", " index "))


def test_a_file_of_the_users_is_not_overwritten_and_a_report_of_ours_is(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = a_trace(tmp_path / "run.sqlite")
    assert analyze(trace) == 0
    assert analyze(trace) == 0
    page = tmp_path / "reports" / "run.html"
    page.write_text("mine", encoding="utf-8")
    assert analyze(trace) == 1
    assert "run.html" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "mine"
    assert analyze(trace, "--force") == 0
    assert "<html" in page.read_text(encoding="utf-8")


def test_control_characters_of_a_file_name_do_not_reach_the_terminal(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert analyze(tmp_path / "evil\x1b[2J\n.sqlite") == 1
    assert analyze(a_trace(tmp_path / "fine\x1b]0;x\x07.sqlite")) == 0
    captured = capsys.readouterr()
    assert "\x1b" not in captured.err + captured.out
    assert "\\x1b" in captured.err
    assert "\\x1b" in captured.out


def test_a_view_that_never_ends_is_refused_before_it_is_run(analyze: Analyze, tmp_path: Path) -> None:
    trace = a_trace(tmp_path / "run.sqlite")
    db = sqlite3.connect(trace)
    db.execute(
        "CREATE VIEW OSRT_API AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS start FROM n"
    )
    db.close()
    assert analyze(trace) == 1


@needs_shared_traces
@pytest.mark.parametrize("columns", ["80", "60"])
def test_all_shared_traces_fit_the_terminal_in_plain_text(
    analyze: Analyze, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert analyze(*TRACES.values(), "--no-report") == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= int(columns)
    assert "\x1b" not in out


@needs_shared_traces
def test_every_shared_trace_gets_its_report_and_the_broken_ones_a_sentence(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SHARED is not None
    everything = sorted((SHARED / "traces").glob("*.sqlite"))
    assert analyze(*everything, "--report-dir", tmp_path / "out") == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == len(everything) - len(TRACES)
    assert {p.stem for p in (tmp_path / "out").glob("*.html")} == {*TRACES, "index"}


@pytest.mark.parametrize("arguments", [["--help"], ["analyze", "--help"], ["--version"]])
def test_help_needs_neither_polars_nor_matplotlib_nor_a_framework(arguments: list[str]) -> None:
    code = (
        "import sys; from wallsplit_scripts.main import cli, run; run(cli, sys.argv[1:]); "
        "heavy = {'polars', 'numpy', 'matplotlib', 'rich', 'torch', 'jax', 'tensorflow'} & sys.modules.keys(); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=paths)
    assert (done.returncode, done.stderr) == (0, "")


_OF_REPORTS = {"matplotlib", "jinja2", "wallsplit.report.build", "wallsplit.report.sections", "wallsplit.report.index"}
_OF_SEVERAL = {"multiprocessing", "wallsplit_scripts.workers", "wallsplit_scripts.cluster"}
_OF_OTHERS = {"tomllib", "wallsplit_scripts.nsys", "wallsplit_scripts.supervise", "wallsplit.comparison.predict"}


@pytest.mark.parametrize(
    ("argument", "unused"),
    [
        ("--json", {"rich", "wallsplit.figures", *_OF_REPORTS, *_OF_SEVERAL, *_OF_OTHERS}),
        ("--no-report", {*_OF_REPORTS, *_OF_SEVERAL, *_OF_OTHERS}),
    ],
)
def test_one_export_imports_only_what_its_answer_is_made_of(argument: str, unused: set[str], tmp_path: Path) -> None:
    code = (
        "import sys; from wallsplit_scripts.main import cli, run; code = run(cli, ['analyze', *sys.argv[1:3]]); "
        "imported = set(sys.argv[3:]) & sys.modules.keys(); sys.exit(str(sorted(imported)) if imported else code)"
    )
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(a_trace(tmp_path / "run.sqlite")), argument, *unused]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=paths)
    assert (done.returncode, done.stderr) == (0, "")


def test_flops_and_peak_give_arithmetic_against_overhead(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = a_trace(tmp_path / "run.sqlite")
    assert analyze(trace, "--json", "--flops", "1e4", "--peak-tflops", "1000") == 0
    (one,) = json.loads(capsys.readouterr().out)["traces"][0]["arithmetic"]["ledgers"]
    assert one["peak"] == {"flops_per_s": 10**15, "source": "given with --peak-tflops"}
    assert (one["works"][0]["flops"], one["works"][0]["modelled_ns"], one["works"][0]["measured_ns"]) == (10**4, 0, 78)


def test_more_than_the_peak_is_one_line_and_exit_code_1(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert analyze(a_trace(tmp_path / "run.sqlite"), "--no-report", "--flops", "2.2e10", "--peak-tflops", "1") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "run.sqlite: 22.0 GFLOP in 78 ns of measured GPU work are " in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("number", ["0", "-1", "nan", "inf", "1e99", "many"])
def test_flops_that_are_no_number_are_a_usage_error(analyze: Analyze, tmp_path: Path, number: str) -> None:
    assert analyze(a_trace(tmp_path / "run.sqlite"), "--flops", number) == 2


def test_a_section_of_several_traces_is_printed_below_each_ones_name_and_an_error_names_the_trace(
    analyze: Analyze, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_gpu = a_trace(tmp_path / "with_gpu.sqlite")
    without = TraceBuilder(tmp_path / "without.sqlite").range("work", 0, 100).write()
    assert analyze(with_gpu, without, "--section", "kernels", "--no-report") == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("with_gpu.sqlite\nKernels\n")
    assert "without.sqlite: section 'kernels': there is none; there are what-ran-where" in captured.err
    assert captured.err.count("\n") == 1
