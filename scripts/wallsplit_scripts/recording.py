"""One profile from beginning to end: runs with and without the profiler, the export, the manifest, the final names."""

import os
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Literal

import wallsplit
from wallsplit.aside import only_folder
from wallsplit.errors import CaptureError, ManifestError, WallsplitError
from wallsplit.run import load as run_load
from wallsplit.run import manifest
from wallsplit.run.manifest import Baseline, Capture, Generator, NvmlFile, RunManifest
from wallsplit.run.nvml import NvmlSample, energies_joules, to_csv
from wallsplit.run.perturbation import comparable
from wallsplit_scripts import arrived, nsys, nvml
from wallsplit_scripts.messages import say
from wallsplit_scripts.nsys import CaptureOptions, Nsys
from wallsplit_scripts.supervise import Ended, supervise

SUFFIXES = (".nsys-rep", ".sqlite", ".nvml.csv", ".run.json")  # the manifest last: it vouches for the others
RESULT = "RESULT.json"
REFUSED = 2  # what `python -m wallsplit_workloads` ends with when it cannot run as asked


@dataclass(frozen=True, slots=True)
class Program:
    """What is profiled."""

    argv: tuple[str, ...]  # RESULT in it stands for the file a workload leaves its manifest in
    workload: str | None = None  # None: a user's own command
    device: Literal["cpu", "gpu"] | None = None
    environment: Mapping[str, str] | None = None  # None: this process's
    cuda_major: int | None = None  # the CUDA it was built on, where that is known

    def command(self, result: Path) -> tuple[str, ...]:
        """Return the command line of one run."""
        return tuple(str(result) if self.workload and part == RESULT else part for part in self.argv)


@dataclass(frozen=True, slots=True)
class Plan:
    """How it is profiled, and where the files go."""

    nsys: Nsys
    options: CaptureOptions
    folder: Path
    name: str
    force: bool = False
    baseline_runs: int = 0
    limit_s: float | None = None  # of each run, the profiler's own work included

    def file(self, suffix: str) -> Path:
        """Return where the file of that suffix goes."""
        return self.folder / (self.name + suffix)


@dataclass(frozen=True, slots=True)
class Run:
    """One run, with or without the profiler."""

    ended: Ended
    own: RunManifest | None = None  # what a workload measured about itself
    wall_ns: int | None = None  # of the whole program, seen from outside
    samples: tuple[NvmlSample, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the program ran to its end and was content."""
        return self.ended.exit_code == 0 and not self.ended.stopped


def record(program: Program, plan: Plan) -> int:
    """Return the program's exit code; its trace and manifest then lie in the plan's folder.

    With `baseline_runs`, profiled and unprofiled runs alternate, so that what else the machine does meanwhile meets
    both alike; the last profiled run is the one kept.

    Raises:
        CaptureError: a name is taken, the folder is unwritable, nsys failed, or the program ran into the time limit.
    """
    refuse_taken_names(plan)
    if program.device == "gpu" and (blind := nsys.blind_to(program.cuda_major, plan.nsys.version)):
        say(f"warning: {blind}")
    with _writing_aside(plan) as part:
        refuse_taken_names(plan)  # by a run that ended between the two
        published: list[Path] = []
        try:
            profiled, plain = _run_all(program, plan, part)
            if profiled[-1].ended.interrupted_by is None:
                _describe(program, plan, part, profiled, plain)
            elif (part / "trace.nsys-rep").is_file():
                _describe_interrupted(program, plan, part, profiled, plain)
        finally:
            published += _publish(part, plan)  # a report is kept also if its export fails
    return _outcome([*profiled, *plain], profiled[-1].ended, plan, published)


def _run_all(program: Program, plan: Plan, part: Path) -> tuple[list[Run], list[Run]]:
    """Return the profiled runs and the unprofiled ones; a program that failed or was stopped once is not run again.

    Raises:
        CaptureError: a workload refused its parameters; an empty trace of that would only occupy the name.
    """
    profiled: list[Run] = []
    plain: list[Run] = []
    for _ in range(max(1, plan.baseline_runs)):
        profiled.append(_run_profiled(program, plan, part))
        if program.workload and not profiled[-1].ended.stopped and profiled[-1].ended.exit_code == REFUSED:
            (part / "trace.nsys-rep").unlink()
            raise CaptureError(f"{program.workload} cannot run as asked, as it says above; nothing is kept")
        if not profiled[-1].whole:
            break
        if plan.baseline_runs:
            say("once more without nsys, to tell what profiling costs (--baseline-runs 0 does without)")
            plain.append(_run_plain(program, plan, part))
            if not plain[-1].whole:
                break
    return profiled, plain


def refuse_taken_names(plan: Plan) -> None:
    """Raise CaptureError if a file of the plan's name exists, unless --force says that it may."""
    taken = [path for suffix in SUFFIXES if (path := plan.file(suffix)).exists() or path.is_symlink()]
    if taken and not plan.force:
        raise CaptureError(f"{taken[0]}: already there; choose another --name, or replace it with --force")


@contextmanager
def _writing_aside(plan: Plan) -> Iterator[Path]:
    """Yield a folder beside the final names, private and gone at the end; it keeps their names for this run."""
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        with only_folder(plan.folder, plan.name) as part:
            yield part.absolute()
    except BlockingIOError as error:
        raise CaptureError(
            f"{plan.file('')}: another run of that name is being recorded there; choose another --name"
        ) from error
    except OSError as error:
        raise CaptureError(f"{plan.folder}: cannot be written to ({error.strerror}); see --output-dir") from error


def _run_profiled(program: Program, plan: Plan, part: Path) -> Run:
    result, report, export = part / RESULT, part / "trace.nsys-rep", part / "trace.sqlite"
    for earlier in (result, report, export):  # of the run before, which must not pass for this one's
        earlier.unlink(missing_ok=True)
    seen = os.environ if program.environment is None else program.environment
    with nvml.Sampler(nvml.load(), environment=seen, first=program.workload is not None) as sampler:
        command = program.command(result)
        ended = nsys.capture(plan.nsys, plan.options, report, command, plan.limit_s, _marking(program))
    wall_ns = None
    if plan.baseline_runs and not program.workload and not ended.stopped:
        nsys.export(plan.nsys.path, report, export, plan.file(".nsys-rep"))
        wall_ns = arrived.capture_ns(export)
    return Run(ended, _own_manifest(result), wall_ns, tuple(sampler.samples))


def _marking(program: Program) -> Mapping[str, str] | None:
    """Return the environment of a profiled run: a workload marks where one asks it to, and is not slowed elsewhere."""
    if program.workload is None:
        return program.environment
    from wallsplit_workloads.marks import ASKED  # the package imports NumPy

    return {**(os.environ if program.environment is None else program.environment), ASKED: "1"}


def _run_plain(program: Program, plan: Plan, part: Path) -> Run:
    result = part / RESULT
    result.unlink(missing_ok=True)
    start = time.perf_counter_ns()
    ended = supervise(program.command(result), limit_s=plan.limit_s, environment=program.environment)
    return Run(ended, _own_manifest(result), time.perf_counter_ns() - start)


def _own_manifest(result: Path) -> RunManifest | None:
    """Return what the workload left; a program that crashed half-way left nothing worth reading."""
    try:
        return manifest.read(result)
    except ManifestError:
        return None


def _describe(program: Program, plan: Plan, part: Path, profiled: Sequence[Run], plain: Sequence[Run]) -> None:
    """Write the export, the NVML samples and the manifest of the last profiled run."""
    report, export = part / "trace.nsys-rep", part / "trace.sqlite"
    run = profiled[-1]
    if not export.is_file():
        nsys.export(plan.nsys.path, report, export, plan.file(".nsys-rep"))
    own = run.own or _bare_manifest(program)
    own = replace(own, git_commit=_git_commit(nsys.checkout() if program.workload else Path.cwd()))
    expected = sum(own.marks.values()) if own.marks else None
    capture = Capture(
        tool="nsys",
        version=plan.nsys.version_text,
        arguments=nsys.capture_flags(plan.nsys, plan.options),
        report_sha256=manifest.sha256(report),
        export_sha256=manifest.sha256(export),
        exit_code=run.ended.exit_code,
        profiled_wall_ns=own.wall_ns or run.wall_ns,
        nvtx_ranges_expected=expected,
        nvtx_ranges_seen=arrived.nvtx_ranges(export, own.marks or None),
    )
    made = replace(own, capture=capture, baseline=_baseline(program, profiled, plain))
    if run.samples:
        _write(part / "trace.nvml.csv", to_csv(run.samples))
        energies = energies_joules(run.samples, list(arrived.epochs_utc(export)))
        made = replace(
            made,
            nvml=NvmlFile(plan.file(".nvml.csv").name),
            peak_memory_bytes={**made.peak_memory_bytes, **nvml.peak_memory_bytes(run.samples)},
            results={**made.results, "epoch_energy_joules": energies},
        )
    _write(part / "trace.run.json", manifest.to_json(made))
    _tell_missing_ranges(capture, plan)
    _tell_busy_machine([*profiled, *plain])


def _describe_interrupted(
    program: Program, plan: Plan, part: Path, profiled: Sequence[Run], plain: Sequence[Run]
) -> None:
    """Describe a run that Ctrl-C ended, if its report is whole."""
    say("interrupted; exporting what was recorded until then (Ctrl-C again leaves it at the report)")
    try:
        _describe(program, plan, part, profiled, plain)
    except CaptureError as error:
        say(str(error))


def _bare_manifest(program: Program) -> RunManifest:
    """Return what can be said of a program that says nothing about itself: its name and the machine."""
    from wallsplit_workloads import machine  # the package imports NumPy

    return RunManifest(
        Generator("wallsplit", wallsplit.__version__),
        workload=program.workload,
        command=None if program.workload else Path(program.argv[0]).name,
        device=program.device,
        cpu=machine.cpu(),
        gpu=machine.gpu(),
    )


def _git_commit(folder: Path | None) -> str | None:
    """Return the commit the folder's checkout stands at; None where there is no git or no checkout."""
    if folder is None:
        return None
    try:
        asked = subprocess.run(
            ("git", "-C", str(folder), "rev-parse", "HEAD"), capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None


def _write(path: Path, text: str) -> None:
    """Write the file whole or not at all."""
    aside = path.with_suffix(".writing")
    aside.write_text(text, encoding="utf-8", newline="\n")
    aside.replace(path)


def _baseline(program: Program, profiled: Sequence[Run], plain: Sequence[Run]) -> Baseline | None:
    """Return the walls of whole runs: by a workload's own clock, else the program from start to end."""
    if not plain:
        return None
    found = [[told for run in runs if run.whole and (told := _compared(program, run))] for runs in (plain, profiled)]
    figure = next((figure for runs in found for figure, _ in runs), "whole program")
    return Baseline(figure, *(tuple(wall_ns for _, wall_ns in runs) for runs in found))


def _compared(program: Program, run: Run) -> tuple[str, int] | None:
    if program.workload:
        return comparable(run.own) if run.own else None
    return None if run.wall_ns is None else ("whole program", run.wall_ns)


def _tell_missing_ranges(capture: Capture, plan: Plan) -> None:
    expected, seen = capture.nvtx_ranges_expected, capture.nvtx_ranges_seen
    if expected is None or seen == expected:
        return
    try:
        nvtx_version = metadata.version("nvtx")
    except metadata.PackageNotFoundError:
        nvtx_version = None
    lost = "none" if seen == 0 else f"{seen:,}"
    why = arrived.why_no_ranges(nvtx_version, plan.nsys.version) or "steps are missing from the trace"
    say(f"warning: {expected:,} NVTX ranges were pushed and {lost} arrived in the trace: {why}")


def _tell_busy_machine(runs: Sequence[Run]) -> None:
    """Warn where a run on the CPU had little of it, by the worst of the runs."""
    had = [cores for run in runs if run.own and (cores := run_load.shared_cores(run.own)) is not None]
    if had:
        say(f"warning: {run_load.in_words(min(had))}")


def _publish(part: Path, plan: Plan) -> list[Path]:
    """Give the files their final names, those of an older run of that name go; the names, as far as there are files."""
    published = []
    for suffix in SUFFIXES:
        made, target = part / f"trace{suffix}", plan.file(suffix)
        if made.is_file():
            made.chmod(0o600)  # reports and exports hold the program's environment
            made.replace(target)
            published.append(target)
        elif any((part / f"trace{other}").is_file() for other in SUFFIXES):
            target.unlink(missing_ok=True)
    return published


def _outcome(runs: Sequence[Run], kept: Ended, plan: Plan, published: Sequence[Path]) -> int:
    """Return the exit code to pass on.

    Raises:
        CaptureError: the program was ended at the time limit.
    """
    files = ", ".join(map(str, published)) or "nothing"
    if left := [name for name in kept.left_behind if not name.startswith("nsys")]:  # its own agent takes its time
        say(f"the program left processes behind ({', '.join(left)}); they were ended with the recording")
    for run in runs:
        if run.ended.interrupted_by is not None:
            say(f"interrupted; kept: {files}")
            return 128 + run.ended.interrupted_by
    if any(run.ended.timed_out for run in runs):
        raise CaptureError(f"the program was ended at the limit of {plan.limit_s:g} s (--timeout); kept: {files}")
    if kept.exit_code:
        say(f"the program failed with exit code {kept.exit_code}; kept: {files}")
    else:
        say(f"wrote {files}")
        _tell_verdict(plan.file(".sqlite"))
    return kept.exit_code


def _tell_verdict(trace: Path) -> None:
    """Say what the recording shows, and how to see more; a trace that cannot be analysed says so then."""
    from wallsplit.pipeline import analyze
    from wallsplit.words.seconds import seconds
    from wallsplit.words.verdict import verdict

    more = f"analyze {shlex.quote(str(trace))}"
    try:
        found = analyze(trace)
    except WallsplitError:
        say(f"next: {more}")
        return
    say(verdict(found))
    say(f"{seconds(found)} More: {more}")
