"""Measuring the cells of a study: each in a process of its own, each kept in a file as soon as it is done."""

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import IO, Final

from wallsplit import units
from wallsplit.aside import private_folder
from wallsplit.errors import ManifestError, ReportError, WallsplitError
from wallsplit.run import load as run_load
from wallsplit.run import manifest
from wallsplit.run.manifest import RunManifest, Scalar
from wallsplit.run.nvml import NvmlSample, energy_joules, mean_gpu_ratio
from wallsplit_scripts import children, nvml
from wallsplit_scripts.builds import environment_of
from wallsplit_scripts.messages import say
from wallsplit_scripts.study_plan import recorded
from wallsplit_scripts.supervise import supervise
from wallsplit_study import cells
from wallsplit_study.cells import Cell, Outcome
from wallsplit_study.report import name
from wallsplit_workloads import WORKLOADS, machine, program
from wallsplit_workloads.__main__ import UNSUPPORTED
from wallsplit_workloads.devices import in_nvml_order
from wallsplit_workloads.running import extra_of, require, versions
from wallsplit_workloads.workload import Workload, device_of, find, resolve

CELLS: Final = "cells.jsonl"
GRACE_S: Final = 5.0
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/:;,'\"]+/)+")
_MESSAGE_LIMIT = 300


class Interrupted(BaseException):
    """A signal arrived while a cell was being measured; like KeyboardInterrupt, no error to be handled on the way."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def load(path: Path, *, mend: bool = True) -> list[Outcome]:
    """Return the outcomes in the file, none where it is missing, without a last line that a kill cut short.

    That line is removed from the file unless it is not to be changed (`mend`).

    Raises:
        ReportError: the file cannot be read, or another line is damaged.
    """
    try:
        content = path.read_bytes() if path.exists() else b""
        outcomes, good = _parse(content, path)
        if mend and good < len(content):
            os.truncate(path, good)
    except OSError as error:
        raise ReportError(f"{path}: cannot be read ({error.strerror}); choose another --output-dir") from error
    return outcomes


def refuse_other_machines(path: Path) -> None:
    """Raise ReportError where the file holds runs of another machine: one report is of one machine.

    Raises:
        ReportError: it does, or it is damaged; says what differs and what to do.
    """
    here = this_machine()
    for there in cells.machines(load(path)):
        if there != here:
            unlike = [name for name in machine.IDENTITY if there.get(name) != here.get(name)]
            differences = "; ".join(
                f"{n} {there.get(n, 'not known')} there, {here.get(n, 'none')} here" for n in unlike
            )
            raise ReportError(
                f"{path.parent} holds runs of another machine ({differences}); choose another --output-dir, or forget "
                "them with --fresh; --compare-with shows two machines side by side"
            )


def append(path: Path, outcome: Outcome) -> None:
    """Add the outcome to the file and return when the disk has it.

    Raises:
        ReportError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(cells.to_line(outcome).encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ReportError(f"{path}: cannot be written to ({error.strerror}); choose another --output-dir") from error


def measure(plan: Sequence[Cell], path: Path, limit_s: float) -> list[Outcome]:
    """Return the outcome of every cell of the plan; those measured before are taken from the file, new ones added.

    Failed cells are tried again; what this machine lacks is looked up again, once for all repeats.

    Raises:
        ReportError: the file is damaged or cannot be written to.
        Interrupted: a signal arrived; the cells finished before are in the file.
    """
    known = {outcome.key: outcome for outcome in load(path)}
    identities = [identify(cell) for cell in plan]
    found = [known.get(cells.key(recorded(cell), own)) for cell, own in zip(plan, identities, strict=True)]
    before = sum(outcome is not None and outcome.status == "measured" for outcome in found)
    if before:
        say(f"{before} of {len(plan)} runs were measured before")
    outcomes = []
    for number, (cell, identity, outcome) in enumerate(zip(plan, identities, found, strict=True), 1):
        if outcome is None or outcome.status != "measured":
            lack = lacking(cell, identity)
            if lack and cell.repeat > 1:
                continue
            fresh = lack or run(cell, identity, limit_s)
            say(f"[{number}/{len(plan)}] {name(fresh)}: {told(fresh)}")
            if fresh != outcome:
                append(path, fresh)
            outcome = fresh
        outcomes.append(outcome)
    return outcomes


def run(cell: Cell, identity: Mapping[str, str], limit_s: float) -> Outcome:
    """Return what a run of the cell's workload, in a process of its own, measured; or how it failed.

    Raises:
        Interrupted: this process got a signal meanwhile; the run and all its processes are ended.
    """
    settings = (f"--set={key}={text}" for key, text in cell.settings.items())
    with private_folder(Path(tempfile.gettempdir()), "wallsplit") as folder, tempfile.TemporaryFile() as output:
        result = folder / "run.json"
        python = environment_of(extra_of(*resolved(cell))).python
        argv = children.module("wallsplit_workloads", cell.workload, *settings, "--result", str(result), python=python)
        environment = in_nvml_order(children.environment())
        library = nvml.load() if device_of(*resolved(cell)) == "gpu" else None
        with nvml.Sampler(library, environment=environment, first=True) as sampler:
            ended = supervise(argv, limit_s=limit_s, grace_s=GRACE_S, output=output, environment=environment)
        if ended.interrupted_by is not None:
            raise Interrupted(ended.interrupted_by)
        if ended.timed_out:
            return _failed(cell, identity, f"still running after {limit_s:g} s (--timeout)")
        if ended.exit_code == UNSUPPORTED:
            return replace(_failed(cell, identity, _last_line(output)), status="not supported here")
        if ended.exit_code:
            return _failed(cell, identity, f"exit code {ended.exit_code}: {_last_line(output)}")
        try:
            found = with_samples(manifest.read(result), sampler.samples)
            return cells.measured(recorded(cell), identity, found)
        except ManifestError as error:
            return _failed(cell, identity, str(error))


def with_samples(run: RunManifest, samples: Sequence[NvmlSample]) -> RunManifest:
    """Return the run with what NVML said meanwhile: peak memory, mean utilisation, energy of the whole process."""
    if not samples:
        return run
    whole = samples[0].utc_ns, samples[-1].utc_ns
    said = {"gpu_ratio": mean_gpu_ratio(samples, *whole), "process_energy_joules": energy_joules(samples, *whole)}
    return replace(
        run,
        peak_memory_bytes={**run.peak_memory_bytes, **nvml.peak_memory_bytes(samples)},
        results={**run.results, **{name: value for name, value in said.items() if value is not None}},
    )


def lacking(cell: Cell, identity: Mapping[str, str]) -> Outcome | None:
    """Return the outcome of a cell that this machine cannot measure, without a GPU or a framework; else None."""
    workload, values = resolved(cell)
    lack = machine.gpu_lack() if device_of(workload, values) == "gpu" else None
    if lack is not None:
        return Outcome(recorded(cell), "no GPU here", identity, lack)
    try:
        require(workload, values, environment_of(extra_of(workload, values)))
    except WallsplitError:
        return Outcome(recorded(cell), "not installed", identity, f"wallsplit[{extra_of(workload, values)}]")
    return None


@cache
def this_machine() -> Mapping[str, str]:
    """Return what tells this machine from another."""
    return machine.identity()


def identify(cell: Cell) -> dict[str, str]:
    """Return what a measurement depends on beside its parameters: machine, versions, the workload's own version."""
    workload, values = resolved(cell)
    own = versions(workload, values, environment_of(extra_of(workload, values)))
    return {**this_machine(), **own, "workload": program.version(workload)}


def told(outcome: Outcome) -> str:
    """Return what the progress line says about an outcome."""
    value = cells.value_ns(outcome)
    if value is None:
        return f"{outcome.status}: {outcome.message}" if outcome.message else outcome.status
    first = cells.first_epoch_ns(outcome) if outcome.cell.part in ("grid", "causes") else None
    after = f" (first epoch {units.ns(first)})" if first is not None else ""
    busy = run_load.shared_cores(outcome.run) if outcome.run else None
    warning = "" if busy is None else f"; busy machine, {100 * busy:.0f} % of a core"
    return f"{cells.VALUE_TITLES[outcome.cell.part]} {units.ns(value)}{after}{warning}"


def _parse(content: bytes, path: Path) -> tuple[list[Outcome], int]:
    """Return the outcomes, and how many bytes of the content hold them whole."""
    outcomes, good = [], 0
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        try:
            if not line.endswith(b"\n"):
                break
            outcomes.append(cells.from_line(line))
        except ManifestError as error:
            if good + len(line) == len(content):
                break
            raise ReportError(f"{path}: line {number}: {error}; remove it, or start anew with --fresh") from error
        good += len(line)
    return outcomes, good


def resolved(cell: Cell) -> tuple[Workload, dict[str, Scalar]]:
    """Return the cell's workload and the values of its parameters."""
    workload = find(WORKLOADS, cell.workload)
    return workload, resolve(workload, cell.settings)


def _failed(cell: Cell, identity: Mapping[str, str], message: str) -> Outcome:
    """Return a failure without this machine's folders in its message: cell files and reports are passed on."""
    return Outcome(recorded(cell), "failed", identity, _FOLDERS.sub("", message)[:_MESSAGE_LIMIT])


def _last_line(output: IO[bytes]) -> str:
    output.seek(0, os.SEEK_END)
    output.seek(max(0, output.tell() - 4096))
    lines = output.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
