import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from processes import alive, pid_in, wait_until
from wallsplit_scripts.supervise import Ended, descendants, supervise

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="capture works on Linux")

# In a session of its own, ignores SIGTERM, writes its process id, would stay for ever. A shell starts in milliseconds.
STUBBORN = """setsid sh -c 'trap "" TERM; echo $$ > "$0"; while true; do sleep 600; done' "$1" """


def shell(code: str, *arguments: str) -> tuple[str, ...]:
    return ("sh", "-c", code, "sh", *arguments)


def python(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *arguments)


def test_the_exit_code_is_the_programs_own() -> None:
    assert supervise(python("raise SystemExit(7)")) == Ended(7)


def test_a_program_ended_by_a_signal_has_the_exit_code_a_shell_shows() -> None:
    assert supervise(python("import os; os.kill(os.getpid(), 9)")) == Ended(128 + signal.SIGKILL)


def test_output_goes_to_the_file_given() -> None:
    with tempfile.TemporaryFile() as output:
        supervise(python("import sys; print('out', flush=True); print('err', file=sys.stderr)"), output=output)
        output.seek(0)
        assert output.read() == b"out\nerr\n"


def test_a_program_that_cannot_be_started_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError):
        supervise(("/nonexistent/program",))


def test_past_the_limit_a_program_may_clean_up_on_sigterm(tmp_path: Path) -> None:
    cleaned = tmp_path / "cleaned"
    ended = supervise(shell("""trap 'touch "$1"; exit 3' TERM; sleep 600 & wait""", str(cleaned)), limit_s=1.0)
    assert ended == Ended(3, timed_out=True)
    assert cleaned.exists()


def test_a_program_that_ignores_sigterm_is_killed_after_the_grace_time() -> None:
    ended = supervise(shell("trap '' TERM; while true; do sleep 600; done"), limit_s=1.0, grace_s=0.2)
    assert ended == Ended(128 + signal.SIGKILL, timed_out=True)


def test_a_grandchild_in_its_own_session_that_ignores_sigterm_does_not_outlive_the_limit(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    ended = supervise(shell(f"{STUBBORN} & wait", str(pid_file)), limit_s=1.0, grace_s=0.2)
    assert ended.timed_out
    assert not alive(pid_in(pid_file))


def test_a_daemon_the_program_left_behind_ends_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    ended = supervise(shell(f'{STUBBORN} & until [ -s "$1" ]; do sleep 0.01; done', str(pid_file)))
    assert ended.exit_code == 0
    assert "sh" in ended.left_behind
    assert not alive(pid_in(pid_file))


def test_processes_that_were_there_before_are_left_alone() -> None:
    bystander = subprocess.Popen(python("import time; time.sleep(600)"))
    try:
        supervise(python("pass"))
        assert bystander.poll() is None
        assert bystander.pid in descendants(os.getpid())
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_this_process_stops_the_program_and_is_reported(tmp_path: Path, number: signal.Signals) -> None:
    pid_file = tmp_path / "pid"
    code = """
import sys
from wallsplit_scripts.supervise import supervise
ended = supervise(sys.argv[1:], grace_s=0.2)
print(ended.interrupted_by, ended.timed_out)
"""
    supervisor = subprocess.Popen(
        python(code, *shell(STUBBORN, str(pid_file))),
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    program = pid_in(pid_file)
    supervisor.send_signal(number)
    assert supervisor.communicate(timeout=30)[0].split() == [str(int(number)).encode(), b"False"]
    assert not alive(program)


@pytest.mark.parametrize("without", ["", "env -i"], ids=["by its environment", "by its session"])
def test_kill_9_of_this_process_ends_the_program_and_what_it_started(tmp_path: Path, without: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    code = "import sys; from wallsplit_scripts.supervise import supervise; supervise(sys.argv[1:])"
    program = shell(
        f"""echo $$ > "$1"; {without} setsid sh -c 'echo $$ > "$0"; sleep 600; true' "$2" & exec {without} sleep 600""",
        str(first),
        str(second),
    )
    if without:  # in the program's session, since nothing else tells whose it is, once the guard has been told of it
        program = shell("sleep 1; " + program[2].replace("setsid ", ""), str(first), str(second))
    supervisor = subprocess.Popen(python(code, *program), env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    pids = [pid_in(first), pid_in(second)]
    supervisor.kill()
    supervisor.wait()
    wait_until(lambda: not any(map(alive, pids)))


def test_nothing_stays_of_the_guard() -> None:
    before = descendants(os.getpid())
    supervise(python("pass"))
    assert descendants(os.getpid()) == before


def test_signal_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    supervise(python("pass"))
    assert signal.getsignal(signal.SIGINT) is before
