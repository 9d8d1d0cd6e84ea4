"""`wallsplit sweep`: measure the published study on this machine and report it."""

import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import click

from wallsplit.analysis import Analysis
from wallsplit.errors import CaptureError, ManifestError, ReportError, WallsplitError
from wallsplit.report.writing import write
from wallsplit.run import manifest
from wallsplit_scripts import nsys, options
from wallsplit_scripts.measuring import CELLS, Interrupted, lacking, load, measure, refuse_other_machines, resolved
from wallsplit_scripts.messages import say
from wallsplit_scripts.profile import workload_program
from wallsplit_scripts.recording import Plan, record
from wallsplit_scripts.sampling import capture_options
from wallsplit_scripts.study_plan import APPROACHES, BATCHES, ITEM_EVERY, QUICK, RETURN_EARLY, Wish, plan
from wallsplit_study import report
from wallsplit_study.breakdown import last_epoch
from wallsplit_study.cells import Cell, Part, machines
from wallsplit_study.two_machines import OtherMachine
from wallsplit_workloads import machine
from wallsplit_workloads.running import recorded_values, versions
from wallsplit_workloads.workload import nearest

PARTS: tuple[Part, ...] = get_args(Part)
OUTPUT = Path("reports/study")
QUICK_OUTPUT = Path("reports/quick-study")
TRACES = Path("traces")
_INTERRUPTED = (128 + signal.SIGINT, 128 + signal.SIGTERM)


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Return whole numbers from 1 on, separated by commas, each once."""
    if value is None:
        return None
    texts = [text.strip() for text in value.split(",")]
    if not all(text.isdecimal() and len(text) < 10 and int(text) for text in texts):
        raise click.BadParameter(f"{value}: not whole numbers from 1 on, separated by commas", ctx, param)
    return tuple(dict.fromkeys(int(text) for text in texts))


def _approaches(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Return approaches of the grid, separated by commas, each once."""
    if value is None:
        return None
    names = tuple(dict.fromkeys(text.strip() for text in value.split(",")))
    for name in names:
        if name not in APPROACHES:
            there = f"{nearest(name, APPROACHES)}; there are {', '.join(APPROACHES)}"
            raise click.BadParameter(f"no approach {name!r}{there}", ctx, param)
    return names


@click.command("sweep")
@click.argument("parts", nargs=-1, type=click.Choice([*PARTS, "all"]), metavar="[PART]...")
@click.option(
    "--approaches", callback=_approaches, metavar="NAME,NAME,…", help="Rows of the grid.  [default: all nine]"
)
@click.option(
    "--batches",
    callback=_numbers,
    metavar="N,N,…",
    help=f"Columns of the grid.  [default: {','.join(map(str, BATCHES))}]",
)
@click.option("--repeat", type=options.COUNT, help="How often each cell is measured.  [default: 3; 1 if --quick]")
@click.option(
    "--epochs",
    type=click.IntRange(1),
    help="Of every run.  [default: 2 for the grid, 20,000 for item, else the workload's own]",
)
@click.option(
    "--item-every",
    callback=_numbers,
    metavar="N,N,…",
    help=f"Intervals of loss.item(); asks for the part item.  [default: {','.join(map(str, ITEM_EVERY))}]",
)
@click.option(
    "--set", "settings", metavar="KEY=VALUE", multiple=True, help="A parameter of every workload that has it."
)
@click.option("--profile", is_flag=True, help="Also profile each workload of the parts once; traces go to traces/.")
@click.option("--quick", is_flag=True, help="Every size as small as can be: minutes, to see that all of it works here.")
@click.option(
    "--compare-with",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Put a study of another machine beside this one, such as reports/cpu-study.",
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    help=f"A folder holds the runs of one machine.  [default: {OUTPUT}; {QUICK_OUTPUT} if --quick]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=900,
    show_default=True,
    metavar="SECONDS",
    help="End a run after that long.",
)
@click.option("--force", is_flag=True, help="Replace files that wallsplit did not write.")
@click.option("--fresh", is_flag=True, help="Forget what was measured into the output folder before.")
def sweep(
    *,
    parts: tuple[str, ...],
    approaches: tuple[str, ...] | None,
    batches: tuple[int, ...] | None,
    repeat: int | None,
    epochs: int | None,
    item_every: tuple[int, ...] | None,
    settings: tuple[str, ...],
    profile: bool,
    quick: bool,
    compare_with: Path | None,
    output_dir: Path | None,
    timeout: float,
    force: bool,
    fresh: bool,
) -> int:
    """Measure the published study here: time per epoch by approach and batch size, and more.

    PARTs are grid (the default), ops (each operation, one product, one step), search (vmap, processes, one by one),
    item (loss.item() by its interval), causes (of slowness, and their remedies), word2vec, break-even (one step over
    model and batch sizes: where a GPU begins to pay), or all. A sweep that was stopped continues where it was. The
    report shows everything measured into the output folder, all of it on this machine.
    """
    usual = QUICK if quick else Wish()
    wish = replace(
        usual,
        approaches=approaches or usual.approaches,
        batches=batches or usual.batches,
        item_every=item_every or usual.item_every,
        repeat=repeat or usual.repeat,
        epochs=epochs,
        settings=_settings(settings),
    )
    chosen = _chosen(parts, asked_for_items=item_every is not None)
    other = _other_machine(compare_with) if compare_with else None
    tool = nsys.find(None) if profile else None  # before hours of measuring
    folder = output_dir or (QUICK_OUTPUT if quick else OUTPUT)
    path = folder / CELLS
    if fresh:
        path.unlink(missing_ok=True)
    refuse_other_machines(path)
    try:
        outcomes = measure(plan(chosen, wish), path, timeout)
    except Interrupted as interrupted:
        say(f"interrupted; what was measured is in {path}, and the same command continues")
        return 128 + interrupted.number  # as a shell counts
    profiled = _profile(chosen, wish, tool, timeout) if tool else 0
    written = write(report.files(load(path), _epochs(chosen, wish), other, quick=quick), folder, force=force)
    click.echo(f"Report: {written[0]}")
    for note in report.busy(outcomes):
        say(f"warning: {note.text}")
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failed:
        say(f"{report.name(outcome)} failed: {outcome.message}")
    return profiled or int(bool(failed))


def _chosen(parts: Sequence[str], *, asked_for_items: bool) -> tuple[Part, ...]:
    """Return the parts to run, in the order of a report."""
    if "all" in parts:
        return PARTS
    asked = {*parts, *(["item"] if asked_for_items else [])} or {"grid"}
    return tuple(part for part in PARTS if part in asked)


def _other_machine(folder: Path) -> OtherMachine:
    """Return the study in the folder, which is left as it is.

    Raises:
        ReportError: there is none, or it is of several machines.
    """
    outcomes = load(folder / CELLS, mend=False)
    if not outcomes:
        raise ReportError(f"{folder}: no study is in it; give --compare-with a folder with a {CELLS}")
    if len(machines(outcomes)) > 1:
        raise ReportError(f"{folder}: holds runs of several machines; give --compare-with a study of one")
    return OtherMachine(folder.resolve().name, outcomes)


def _settings(texts: Sequence[str]) -> dict[str, str]:
    """Return the texts of `--set key=value`, by key."""
    from wallsplit_workloads import WORKLOADS

    known = {parameter.name for workload in WORKLOADS for parameter in workload.parameters}
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--set {text}: not KEY=VALUE.")
        if (key := name.replace("-", "_")) not in known:
            there = f"{nearest(key, known)}; there are {', '.join(sorted(known))}"
            raise click.UsageError(f"--set {text}: no workload has a parameter {key!r}{there}.")
        settings[key] = value
    return settings


def _profiled(parts: Sequence[Part], wish: Wish) -> dict[str, Cell]:
    """Return the cells to profile, the first of each row, by the name of their trace; some a second time, waiting."""
    firsts: dict[str, Cell] = {}
    for cell in plan(parts, wish):
        name = "sweep " + " ".join(dict.fromkeys((cell.workload, cell.approach)))
        firsts.setdefault(re.sub(r"\W+", "-", name), cell)
    named: dict[str, Cell] = {}
    for name, cell in firsts.items():
        named[name] = cell
        if cell.part == "grid" and cell.workload in RETURN_EARLY:
            named[f"{name}-waited"] = replace(cell, settings={**cell.settings, "wait_phases": "true"})
    return named


def _profile(parts: Sequence[Part], wish: Wish, tool: nsys.Nsys, limit_s: float) -> int:
    """Profile the first cell of each row once; the exit code. Its trace is kept where it is there already."""
    code = 0
    for name, cell in _profiled(parts, wish).items():
        if lacking(cell, {}):
            continue
        program = workload_program(cell.workload, cell.settings)
        target = Plan(tool, capture_options(tool, program.device), TRACES, name, limit_s=limit_s)
        if target.file(".sqlite").exists():
            if _is_of(cell, target.file(".sqlite")):
                continue
            target = replace(target, force=True)
        try:
            own = record(program, target)
        except CaptureError as error:
            say(str(error))
            own = 1
        if own in _INTERRUPTED:
            return own
        code = code or int(own != 0)
    return code


def _is_of(cell: Cell, trace: Path) -> bool:
    """Return whether the trace, by its manifest, is of the cell with these parameters on this machine."""
    try:
        found = manifest.read(manifest.beside(trace))
    except ManifestError:
        return False
    workload, values = resolved(cell)
    here = machine.cpu()
    same = found.cpu is not None and all(
        getattr(found.cpu, name) == getattr(here, name) for name in ("model", "physical_cores", "logical_cores")
    )
    return (
        same and found.versions == versions(workload, values) and found.parameters == recorded_values(workload, values)
    )


def _epochs(parts: Sequence[Part], wish: Wish) -> list[Analysis]:
    """Return the last epochs of the grid's traces, as far as they were profiled; a trace without epochs has none."""
    epochs = []
    for name, cell in _profiled(parts, wish).items():
        trace = TRACES / f"{name}.sqlite"
        if cell.part != "grid" or not trace.exists() or not _is_of(cell, trace):
            continue
        try:
            epochs.append(last_epoch(trace))
        except WallsplitError as error:
            say(str(error))
    return epochs
