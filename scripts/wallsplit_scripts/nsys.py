"""Nsight Systems: finding it, what it can do, the command lines it is given, and what its failures mean."""

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from wallsplit.aside import private_folder
from wallsplit.errors import CaptureError
from wallsplit.frozen import dataclass
from wallsplit_scripts.supervise import Ended, supervise

OLDEST = (2022, 1)  # the first year whose `profile` knows every flag used here
WHOLE_GRAPH_ROWS_SINCE = (2024, 3)  # before, the SQLite exporter writes no CUPTI_ACTIVITY_KIND_GRAPH_TRACE
CUDA_13_SINCE = (2025, 3)  # the first that comes with CUDA 13; an older one's CUPTI records no kernel of its programs
WANTED_TRACES = ("cuda", "nvtx", "osrt", "cublas", "cudnn")
QUESTION_LIMIT_S = 60.0  # `--version` and `--help`
EXPORT_LIMIT_S = 1800.0
SAID_LIMIT_BYTES = 2**18  # the help of `nsys profile` is 40 kB
LITTLE_BYTES = 16 * 2**20  # a disk with less room than this is the likely reason for a missing report
SQLITE_MAGIC = b"SQLite format 3\0"
HOW_TO_GET = "`make nsys` installs one on Debian; elsewhere see developer.nvidia.com/nsight-systems"

_RELEASE = re.compile(r"\b20\d\d\.\d+(?:\.\d+)*")

GraphTrace = Literal["auto", "graph", "node"]


@dataclass(frozen=True)
class Nsys:
    """An installed Nsight Systems."""

    path: Path
    version_text: str  # "2023.4.4.54-234433681190v0"
    traces: tuple[str, ...]  # of WANTED_TRACES, those it knows

    @property
    def version(self) -> tuple[int, ...]:
        """The release, as (2023, 4, 4)."""
        return parse_version(self.version_text)[:3]


@dataclass(frozen=True)
class CaptureOptions:
    """What a capture records."""

    graph_trace: GraphTrace = "auto"
    cpu_samples: bool = False
    os_calls: bool = True


def parse_version(text: str) -> tuple[int, ...]:
    """Return the leading dotted numbers of a version: (0, 2, 11) of "0.2.11rc1"; empty where there are none."""
    match = re.match(r"\d+(?:\.\d+)*", text.strip())
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def candidates(option: str | None, environment_value: str | None, checkout: Path | None) -> tuple[tuple[str, str], ...]:
    """Return (where an nsys may be, who says so), the first that exists wins; a place asked for is the only one."""
    if option:
        return ((option, "as --nsys says"),)
    if environment_value:
        return ((environment_value, "as $WALLSPLIT_NSYS says"),)
    own = ((str(checkout / ".nsys" / "usr" / "bin" / "nsys"), "the checkout's own"),) if checkout else ()
    return (*own, ("nsys", "the first on PATH"))


def choose(option: str | None = None) -> tuple[Path, str]:
    """Return the nsys to use and why this one: `--nsys`, else $WALLSPLIT_NSYS, else the checkout's, else PATH's first.

    Never one of the current folder, which may hold what somebody else wrote.

    Raises:
        CaptureError: there is none.
    """
    asked = os.environ.get("WALLSPLIT_NSYS")
    for candidate, why in candidates(option, asked, checkout()):
        if found := _program(candidate):
            return found, why
    if option or asked:
        where = "--nsys" if option else "WALLSPLIT_NSYS"
        raise CaptureError(f"{option or asked}: no nsys that can be run, as {where} says; {HOW_TO_GET}")
    raise CaptureError(f"no nsys found, neither in .nsys of a checkout nor on PATH; {HOW_TO_GET}")


def locate(option: str | None = None) -> Path:
    """Return the nsys to use.

    Raises:
        CaptureError: there is none.
    """
    return choose(option)[0]


def checkout() -> Path | None:
    """Return the source tree this program runs from; None where it is installed."""
    root = Path(__file__).resolve().parents[2]
    own = root / "scripts" / "wallsplit_scripts" / "nsys.py"
    return root if own == Path(__file__).resolve() and (root / "pyproject.toml").is_file() else None


def _program(candidate: str) -> Path | None:
    """Return the program at a path, or of a name on PATH, of which only absolute folders count."""
    folders = os.pathsep.join(folder for folder in os.get_exec_path() if Path(folder).is_absolute())
    found = shutil.which(candidate, path=folders)
    by_name = Path(candidate).name == candidate
    return None if found is None or (by_name and not Path(found).is_absolute()) else Path(found)


def find(option: str | None = None) -> Nsys:
    """Return the nsys to use, asked for its version and what it can trace.

    Raises:
        CaptureError: there is none, it does not answer, or it is older than OLDEST.
    """
    path = locate(option)
    version = version_text(path)
    if parse_version(version) < OLDEST:
        raise CaptureError(f"{path}: nsys {version} is older than {OLDEST[0]}.{OLDEST[1]}; {HOW_TO_GET}")
    return Nsys(path, version, known_traces(_ask(path, "profile", "--help")))


def version_text(path: Path) -> str:
    """Return the version this nsys tells, as "2023.4.4.54-234433681190v0".

    Raises:
        CaptureError: it hangs, or is no Nsight Systems.
    """
    said = _ask(path, "--version")
    match = re.search(r"version (\d{4}\.[\w.-]+)", said)
    if match is None:
        raise CaptureError(f"{path}: no Nsight Systems, it says {_last_line(said)!r}; choose another with --nsys")
    return match[1]


def known_traces(profile_help: str) -> tuple[str, ...]:
    """Return which of WANTED_TRACES the help of `nsys profile` lists for --trace; all of them where it lists none."""
    section = re.search(r"-t, --trace=(.*?)(?:\n\s*\n\s*-|\Z)", profile_help, re.DOTALL)
    listed = set(re.findall(r"'([\w-]+)'", section[1])) if section else set()
    return tuple(name for name in WANTED_TRACES if name in listed) or WANTED_TRACES


def may_sample(path: Path) -> bool | None:
    """Return whether this nsys says that it can sample what the CPU executes here; None where it does not say.

    Raises:
        CaptureError: it hangs.
    """
    said = re.search(r"CPU Profiling Environment \(process-tree\): (\w+)", _ask(path, "status", "--environment"))
    return said[1] == "OK" if said else None


def graph_granularity(chosen: GraphTrace, version: Sequence[int]) -> str:
    """Return `node` where this nsys exports no rows for whole graphs, else `graph`, which disturbs the program less."""
    if chosen != "auto":
        return chosen
    return "node" if tuple(version[:2]) < WHOLE_GRAPH_ROWS_SINCE else "graph"


def blind_to(cuda_major: int | None, version: Sequence[int]) -> str | None:
    """Return why this version of nsys does not see the kernels of programs built on this CUDA; None where it does."""
    if cuda_major is None or cuda_major < 13 or tuple(version[:2]) >= CUDA_13_SINCE:
        return None
    needed, own = (".".join(map(str, release)) for release in (CUDA_13_SINCE, version))
    return (
        f"nsys {own} records no kernels of programs built on CUDA {cuda_major}; it takes {needed} or later "
        "(developer.nvidia.com/nsight-systems), named by --nsys or WALLSPLIT_NSYS"
    )


def capture_flags(nsys: Nsys, options: CaptureOptions) -> tuple[str, ...]:
    """Return the flags of `nsys profile` that decide what is recorded."""
    traces = [name for name in nsys.traces if options.os_calls or name != "osrt"]
    tree = "process-tree" if options.cpu_samples else "none"  # with samples nsys records scheduling whatever it is told
    return (
        f"--trace={','.join(traces)}",
        f"--cuda-graph-trace={graph_granularity(options.graph_trace, nsys.version)}",
        f"--sample={tree}",
        f"--cpuctxsw={tree}",
    )


def profile_argv(nsys: Nsys, options: CaptureOptions, report: Path, program: Sequence[str]) -> tuple[str, ...]:
    """Return the whole command line that runs the program and leaves its report."""
    output = str(report).replace("%", "%%")  # nsys expands %h, %p and %q{NAME} in it
    # --wait=primary: a daemon that the program leaves behind would keep nsys waiting for as long as it lives.
    flags = (*capture_flags(nsys, options), "--wait=primary", "--force-overwrite=true", f"--output={output}")
    own_tmpdir = f"--env-var=TMPDIR={_tmpdir()}"  # the program's, while nsys itself is given another: see capture()
    return (str(nsys.path), "profile", *flags, own_tmpdir, *program)  # nsys takes no `--` before the program


def export_argv(path: Path, report: Path, export: Path) -> tuple[str, ...]:
    """Return the whole command line that turns a report into SQLite."""
    flags = ("--type=sqlite", "--quiet=true", "--force-overwrite=true", f"--output={export}")
    return (str(path), "export", *flags, str(report))


def capture(
    nsys: Nsys,
    options: CaptureOptions,
    report: Path,
    program: Sequence[str],
    limit_s: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Return how the program ended under `nsys profile`; the report exists, also if the program failed or was stopped.

    What nsys records until the report is made holds the program's environment; in /tmp it would be readable by all,
    and stay there if nsys is killed. Hence a temporary folder of its own, which the program does not see.

    Raises:
        CaptureError: nsys cannot be run, or left no report.
    """
    with private_folder(Path(tempfile.gettempdir()), "wallsplit") as scratch:
        own = {**(os.environ if environment is None else environment), "TMPDIR": str(scratch)}
        ended = _run(profile_argv(nsys, options, report, program), limit_s, environment=own)
    if report.is_file() and report.stat().st_size > 0:
        return ended
    if ended.interrupted_by is not None:
        return ended  # nobody waits for a report after Ctrl-C
    if ended.timed_out:
        raise CaptureError(f"nsys left no report within the limit of {limit_s:g} s and was ended; give more --timeout")
    free_bytes = shutil.disk_usage(report.parent).free
    room = f"; only {free_bytes:,} bytes are free in {report.parent.parent}" if free_bytes < LITTLE_BYTES else ""
    raise CaptureError(f"nsys left no report and exited with {ended.exit_code}; what it said stands above{room}")


def export(path: Path, report: Path, target: Path, shown: Path | None = None) -> None:
    """Write the report's SQLite export to `target`, whole or not at all; `shown` is what errors call the report.

    Raises:
        CaptureError: nsys refuses the report (its message is passed on), hangs, or writes nothing; no space is left.
    """
    try:
        with private_folder(target.parent, target.name) as folder:
            part = folder / "export.sqlite"
            with tempfile.TemporaryFile() as output:
                ended = _run(export_argv(path, report.absolute(), part), EXPORT_LIMIT_S, output)
                said = _said(output)
            if ended.interrupted_by is not None:
                raise KeyboardInterrupt
            if ended.timed_out:
                raise CaptureError(
                    f"{shown or report}: nsys export did not end within {EXPORT_LIMIT_S:g} s and was ended"
                )
            if ended.exit_code != 0 or not part.is_file() or part.stat().st_size == 0:
                raise CaptureError(f"{shown or report}: nsys export failed (exit {ended.exit_code}): {_reason(said)}")
            with part.open("rb") as made:
                if made.read(len(SQLITE_MAGIC)) != SQLITE_MAGIC:
                    raise CaptureError(f"{shown or report}: what nsys exported is no SQLite database; try another nsys")
            part.chmod(0o600)
            part.replace(target)
    except OSError as error:
        raise CaptureError(f"{target}: cannot be written ({error.strerror})") from error


def _ask(path: Path, *arguments: str) -> str:
    with tempfile.TemporaryFile() as output:
        ended = _run((str(path), *arguments), QUESTION_LIMIT_S, output)
        said = _said(output)
    if ended.interrupted_by is not None:
        raise KeyboardInterrupt
    if ended.timed_out:
        question = " ".join(arguments)
        raise CaptureError(f"{path}: hangs, no answer to `{question}` in {QUESTION_LIMIT_S:g} s; choose with --nsys")
    return said


def _said(output: IO[bytes]) -> str:
    """Return what a program said, its end alone where that is more than any nsys has to say."""
    length = output.seek(0, os.SEEK_END)
    output.seek(max(0, length - SAID_LIMIT_BYTES))
    return output.read().decode(errors="replace")


def _tmpdir() -> str:
    """Return where programs put temporary files, as the environment says; a comma would end the value for nsys."""
    folder = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - what POSIX programs take without TMPDIR
    return "/tmp" if "," in folder else folder  # noqa: S108


def _run(
    argv: Sequence[str],
    limit_s: float | None,
    output: IO[bytes] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    try:
        return supervise(argv, limit_s=limit_s, output=output, environment=environment)
    except OSError as error:
        raise CaptureError(f"{argv[0]}: cannot be run ({error.strerror}); choose another nsys with --nsys") from error


def _reason(text: str) -> str:
    """Return the line that names two versions, which is how nsys refuses a report newer than itself; else the last."""
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines()]
    return next((line for line in lines if len(set(_RELEASE.findall(line))) > 1), None) or _last_line(text)


def _last_line(text: str) -> str:
    """Return the last line that says something."""
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
