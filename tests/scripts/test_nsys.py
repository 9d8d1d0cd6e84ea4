import os
import re
import tracemalloc
from pathlib import Path

import pytest

from fake_nsys import fake_nsys
from wallsplit.errors import CaptureError
from wallsplit_scripts import nsys
from wallsplit_scripts.nsys import CaptureOptions, Nsys, capture_flags, known_traces, parse_version, profile_argv

OLD = Nsys(Path("/opt/nsys"), "2023.4.4.54-234433681190v0", ("cuda", "nvtx", "osrt", "cublas", "cudnn"))
NEW = Nsys(Path("/opt/nsys"), "2025.1.3.140-251335620677v0", ("cuda", "nvtx"))


@pytest.mark.parametrize(
    ("text", "version"),
    [("2023.4.4.54-2344v0", (2023, 4, 4, 54)), ("0.2.11rc1", (0, 2, 11)), ("7", (7,)), ("unknown", ())],
)
def test_a_version_is_its_leading_numbers(text: str, version: tuple[int, ...]) -> None:
    assert parse_version(text) == version


def test_the_option_wins_over_the_environment_which_wins_over_the_checkout_and_path() -> None:
    project = Path("/project")
    assert nsys.candidates("/a", "/b", project) == (("/a", "as --nsys says"),)
    assert nsys.candidates(None, "/b", project) == (("/b", "as $WALLSPLIT_NSYS says"),)
    own = ("/project/.nsys/usr/bin/nsys", "the checkout's own")
    assert nsys.candidates(None, None, project) == (own, ("nsys", "the first on PATH"))
    assert nsys.candidates(None, None, None) == (("nsys", "the first on PATH"),)


@pytest.mark.usefixtures("no_nsys_chosen")
def test_a_folder_that_path_names_relatively_holds_no_nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsys, "checkout", lambda: None)
    monkeypatch.chdir(tmp_path)
    fake_nsys(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{tmp_path / 'empty'}")
    with pytest.raises(CaptureError, match="no nsys found"):
        nsys.locate()
    assert nsys.locate("./nsys") == Path("nsys")


def test_only_traces_this_nsys_knows_are_asked_for() -> None:
    sample, other = "\t-s, --sample=\n\n\t   'cublas'\n\n", "\t-x, --other=\n\n\t   'cudnn'\n"
    trace = "\t-t, --trace=\n\n\t   'cuda', 'nvtx',\n\t   'osrt' or 'none'.\n\n"
    assert known_traces(sample + trace + other) == ("cuda", "nvtx", "osrt")


def test_a_help_that_lists_no_traces_leaves_all_to_nsys_itself() -> None:
    assert known_traces("nothing") == nsys.WANTED_TRACES


def test_graphs_are_traced_by_node_where_whole_ones_are_not_exported() -> None:
    assert "--cuda-graph-trace=node" in capture_flags(OLD, CaptureOptions())
    assert "--cuda-graph-trace=graph" in capture_flags(NEW, CaptureOptions())
    assert "--cuda-graph-trace=graph" in capture_flags(OLD, CaptureOptions(graph_trace="graph"))


def test_scheduling_is_recorded_beside_samples_and_said_to_be() -> None:
    assert set(capture_flags(OLD, CaptureOptions())) >= {"--sample=none", "--cpuctxsw=none"}
    sampled = capture_flags(OLD, CaptureOptions(cpu_samples=True))
    assert set(sampled) >= {"--sample=process-tree", "--cpuctxsw=process-tree"}


def test_os_calls_can_be_left_out() -> None:
    assert "--trace=cuda,nvtx,cublas,cudnn" in capture_flags(OLD, CaptureOptions(os_calls=False))


@pytest.mark.parametrize(("said", "answer"), [("OK", True), ("Fail", False)])
def test_nsys_tells_whether_it_may_sample(tmp_path: Path, said: str, answer: bool) -> None:
    assert nsys.may_sample(fake_nsys(tmp_path, sampling=said)) is answer


def test_an_nsys_that_says_nothing_of_sampling_is_no_answer(tmp_path: Path) -> None:
    assert nsys.may_sample(fake_nsys(tmp_path, sampling="")) is None


def test_the_command_line_is_flags_then_the_program_as_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/var/tmp")
    argv = profile_argv(OLD, CaptureOptions(), Path("/t/x.nsys-rep"), ("python", "-c", "print(1)"))
    assert argv == (
        "/opt/nsys",
        "profile",
        "--trace=cuda,nvtx,osrt,cublas,cudnn",
        "--cuda-graph-trace=node",
        "--sample=none",
        "--cpuctxsw=none",
        "--wait=primary",
        "--force-overwrite=true",
        "--output=/t/x.nsys-rep",
        "--env-var=TMPDIR=/var/tmp",
        "python",
        "-c",
        "print(1)",
    )


@pytest.mark.parametrize("folder", ["", "/a,b"])  # a comma would begin another variable
def test_a_program_without_a_usable_tmpdir_gets_the_usual_one(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", folder)
    assert "--env-var=TMPDIR=/tmp" in profile_argv(OLD, CaptureOptions(), Path("x.nsys-rep"), ("true",))


def test_what_nsys_writes_meanwhile_lies_in_a_private_folder_and_is_gone_also_if_nsys_is_killed(tmp_path: Path) -> None:
    body = (
        "scratch = pathlib.Path(os.environ['TMPDIR']); (scratch / 'nsys-report-1.qdstrm').write_text('secret')\n"
        "    seen = f'{scratch} {scratch.stat().st_mode & 0o777:o}'\n"
        f"    pathlib.Path({str(tmp_path / 'seen')!r}).write_text(seen)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    with pytest.raises(CaptureError, match="exited with 137"):
        nsys.capture(
            nsys.find(str(fake_nsys(tmp_path, profile_body=body))), CaptureOptions(), tmp_path / "x.nsys-rep", ("true",)
        )
    scratch, mode = (tmp_path / "seen").read_text().split()
    assert mode == "700"
    assert not Path(scratch).exists()


@pytest.mark.parametrize(
    ("version", "granularity"),
    [("2022.4.2", "node"), ("2023.4.4", "node"), ("2024.1.1", "node"), ("2024.3.1", "graph"), ("2025.6.1", "graph")],
)
def test_the_granularity_of_graphs_follows_the_release(version: str, granularity: str) -> None:
    assert nsys.graph_granularity("auto", parse_version(version)) == granularity


def test_a_per_cent_sign_in_the_path_is_no_pattern_to_nsys() -> None:
    assert "--output=/t/50%%h/x.nsys-rep" in profile_argv(OLD, CaptureOptions(), Path("/t/50%h/x.nsys-rep"), ("true",))


def test_an_nsys_tells_its_version_and_traces(tmp_path: Path) -> None:
    found = nsys.find(str(fake_nsys(tmp_path)))
    assert (found.version, found.traces) == ((2023, 4, 4), ("cuda", "nvtx"))


@pytest.mark.usefixtures("no_nsys_chosen")
def test_without_an_nsys_the_error_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(nsys, "checkout", lambda: tmp_path)
    with pytest.raises(CaptureError, match=r"no nsys found.*make nsys"):
        nsys.find()


@pytest.mark.usefixtures("no_nsys_chosen")
def test_the_projects_own_nsys_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".nsys" / "usr" / "bin").mkdir(parents=True)
    own = fake_nsys(tmp_path / ".nsys" / "usr" / "bin")
    monkeypatch.setattr(nsys, "checkout", lambda: tmp_path)
    assert nsys.locate() == own


def test_an_nsys_chosen_by_the_environment_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLSPLIT_NSYS", "/nonexistent/nsys")
    with pytest.raises(CaptureError, match="/nonexistent/nsys: no nsys that can be run, as WALLSPLIT_NSYS says"):
        nsys.find()


def test_an_nsys_too_old_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"nsys 2020\.3\.1 is older than 2022\.1"):
        nsys.find(str(fake_nsys(tmp_path, version="2020.3.1")))


def test_another_program_called_nsys_is_refused_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="no Nsight Systems, it says 'network system 4'"):
        nsys.find(str(fake_nsys(tmp_path, version_body="print('network system 4'); sys.exit()")))


def test_of_an_nsys_that_says_too_much_the_end_alone_is_read(tmp_path: Path) -> None:
    body = "print('x' * 50_000_000); print('network system 4'); sys.exit()"
    chatty = fake_nsys(tmp_path, version_body=body)
    tracemalloc.start()
    try:
        with pytest.raises(CaptureError, match="it says 'network system 4'"):
            nsys.find(str(chatty))
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_an_nsys_that_does_not_answer_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsys, "QUESTION_LIMIT_S", 0.5)
    with pytest.raises(CaptureError, match="hangs, no answer to `--version`"):
        nsys.find(str(fake_nsys(tmp_path, version_body="time.sleep(600)")))


def test_an_export_refused_by_an_older_nsys_passes_its_message_on(tmp_path: Path) -> None:
    path = fake_nsys(tmp_path, export_body="print('Report is of newer version 2025.1', file=sys.stderr); sys.exit(1)")
    with pytest.raises(CaptureError, match=re.escape("nsys export failed (exit 1): Report is of newer version 2025.1")):
        nsys.export(path, tmp_path / "x.nsys-rep", tmp_path / "x.sqlite")
    assert not (tmp_path / "x.sqlite").exists()


def test_of_all_that_nsys_says_the_line_with_both_versions_is_passed_on(tmp_path: Path) -> None:
    newer = "Report version 2025.3.1.90 is newer than this version, 2023.4.4.54. Update Nsight Systems."
    lines = ("Processing events...", newer, "Importer 2023.4.4.54 of Nsight Systems 2023.4.4.54 gave up", "Done.")
    body = f"print({chr(10).join(lines)!r}, file=sys.stderr); sys.exit(1)"
    with pytest.raises(CaptureError, match=re.escape(f"nsys export failed (exit 1): {newer}")):
        nsys.export(fake_nsys(tmp_path, export_body=body), tmp_path / "x.nsys-rep", tmp_path / "x.sqlite")


def test_an_export_that_writes_nothing_has_failed(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"nsys export failed \(exit 0\): it said nothing"):
        nsys.export(fake_nsys(tmp_path, export_body="sys.exit()"), tmp_path / "x.nsys-rep", tmp_path / "x.sqlite")


def test_an_export_that_hangs_is_ended_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsys, "EXPORT_LIMIT_S", 0.5)
    path = fake_nsys(tmp_path, export_body="pathlib.Path(output).write_text('half'); time.sleep(600)")
    (tmp_path / "exports").mkdir()
    with pytest.raises(CaptureError, match=r"did not end within 0\.5 s"):
        nsys.export(path, tmp_path / "x.nsys-rep", tmp_path / "exports" / "x.sqlite")
    assert list((tmp_path / "exports").iterdir()) == []
