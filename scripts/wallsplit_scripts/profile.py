"""`wallsplit profile`: run a program under Nsight Systems and leave its trace and manifest."""

import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from wallsplit.errors import CaptureError, WallsplitError
from wallsplit_scripts import children, completion, nsys
from wallsplit_scripts.messages import say
from wallsplit_scripts.nsys import GraphTrace
from wallsplit_scripts.recording import RESULT, Plan, Program, record
from wallsplit_scripts.sampling import capture_options

OWN_FAILURE = 125  # as env, nohup and docker have it: the profiled program's own codes stay apart
_COMMAND = "wallsplit.command"


class _ProgramAfterDashes(click.Command):
    """A command that keeps apart what stands behind `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            cut = args.index("--")
            ctx.meta[_COMMAND] = tuple(args[cut + 1 :])
            args = args[:cut]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS] WORKLOAD | [OPTIONS] -- PROGRAM [ARGUMENTS]..."]


@click.command("profile", cls=_ProgramAfterDashes)
@click.argument("workload", required=False, shell_complete=completion.workloads)
@click.option("--batch", metavar="N", help="Samples per step.")
@click.option("--epochs", metavar="N", help="Passes over the training samples.")
@click.option("--steps", metavar="N", help="Training steps per epoch, at most.")
@click.option("--seed", metavar="N", help="Seed of weights, order and generated data.")
@click.option("--data", metavar="PATH", help="mnist.npz, or a folder of IDX files.")
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="Any other parameter of the workload.")
@click.option("--name", help="Stem of the files written.  [default: the workload's or script's name]")
@click.option("--output-dir", type=click.Path(path_type=Path), default="traces", show_default=True)
@click.option("--force", is_flag=True, help="Replace the files of an earlier run of that name.")
@click.option(
    "--baseline-runs",
    type=click.IntRange(0, 1_000),
    metavar="N",
    help="Also run N times unprofiled, and N times profiled in turn, to tell what the profiler costs; 3 can tell.  "
    "[default: 1; 0 for your own program]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=3600,
    show_default=True,
    metavar="SECONDS",
    help="End each run after that long; what was recorded until then is kept.",
)
@click.option(
    "--cuda-graph-trace",
    type=click.Choice(["auto", "graph", "node"]),
    default="auto",
    show_default=True,
    help="Record CUDA graphs as a whole (cheap) or every kernel in them (slower); auto: whole where this nsys exports "
    "them (2024.3 and later), else by node.",
)
@click.option(
    "--cpu-samples/--no-cpu-samples",
    default=None,
    help="Sample what the CPU executes, and record when threads are on a CPU.  [default: on where the kernel permits]",
)
@click.option(
    "--os-calls/--no-os-calls",
    default=None,
    help="Trace calls into the operating system.  [default: on; off for a CPU workload that is sampled, of whose time "
    "they take about a tenth]",
)
@click.option("--nsys", "nsys_path", metavar="PATH", help="The nsys to use.  [default: $WALLSPLIT_NSYS, .nsys, PATH]")
@click.option("--dry-run", is_flag=True, help="Print the nsys command line and run nothing.")
@click.pass_context
def profile(
    ctx: click.Context,
    *,
    workload: str | None,
    batch: str | None,
    epochs: str | None,
    steps: str | None,
    seed: str | None,
    data: str | None,
    settings: tuple[str, ...],
    name: str | None,
    output_dir: Path,
    force: bool,
    baseline_runs: int | None,
    timeout: float,
    cuda_graph_trace: GraphTrace,
    cpu_samples: bool | None,
    os_calls: bool | None,
    nsys_path: str | None,
    dry_run: bool,
) -> None:
    """Run a built-in WORKLOAD, or any PROGRAM after --, under Nsight Systems.

    Leaves NAME.nsys-rep, NAME.sqlite and NAME.run.json in traces/. The exit code is the program's own; 125 says that
    profiling failed.
    """
    command: tuple[str, ...] = ctx.meta.get(_COMMAND, ())
    given = {"batch": batch, "epochs": epochs, "steps": steps, "seed": seed, "data": data}
    _check_usage(workload, command, [option for option, value in (given | {"set": settings}).items() if value])
    try:
        if workload:
            texts = {key: text for key, text in given.items() if text is not None}
            program = workload_program(workload, texts | _settings(settings), dry=dry_run)
        else:
            program = own_program(command)
        tool = nsys.find(nsys_path)
        plan = Plan(
            nsys=tool,
            options=capture_options(tool, program.device, cuda_graph_trace, cpu_samples=cpu_samples, os_calls=os_calls),
            folder=output_dir,
            name=default_name(workload, command) if name is None else file_stem(name),
            force=force,
            baseline_runs=int(workload is not None) if baseline_runs is None else baseline_runs,
            limit_s=timeout,
        )
        if dry_run:
            argv = program.command(plan.file(".run.json"))
            click.echo(shlex.join(nsys.profile_argv(plan.nsys, plan.options, plan.file(".nsys-rep"), argv)))
            return
        if sys.platform != "linux":
            raise CaptureError(f"capturing works on Linux, and this is {sys.platform}; export there, analyse anywhere")
        code = record(program, plan)
    except WallsplitError as error:
        say(str(error))
        code = OWN_FAILURE
    ctx.exit(code)


def parameters_in(options: Sequence[str]) -> dict[str, str]:
    """Return the parameters of a workload that a command line of `profile` sets, by name; its other options are left.

    Raises:
        click.UsageError: these are no options of `profile`.
    """
    given = profile.make_context("profile", list(options), resilient_parsing=True).params
    texts = {name: given[name] for name in ("batch", "epochs", "steps", "seed", "data") if given[name] is not None}
    return texts | _settings(given["settings"])


def _check_usage(workload: str | None, command: Sequence[str], parameters: Sequence[str]) -> None:
    if bool(workload) == bool(command):
        raise click.UsageError("Give either a WORKLOAD (`wallsplit workloads` lists them) or a program after --.")
    if command and parameters:
        raise click.UsageError(f"--{parameters[0]} sets a parameter of a built-in workload, and {command[0]} is none.")


def _settings(settings: Sequence[str]) -> dict[str, str]:
    """Return the texts of `--set key=value`, by key."""
    for setting in settings:
        if "=" not in setting.lstrip("="):
            raise click.UsageError(f"--set {setting}: not KEY=VALUE.")
    return {key.replace("-", "_"): value for key, _, value in (setting.partition("=") for setting in settings)}


def workload_program(name: str, texts: Mapping[str, str], *, dry: bool = False) -> Program:
    """Return the child that runs a workload with these parameters; a dry one is told what is missing, and made.

    Raises:
        WallsplitError: the workload or a parameter is unknown, a value impossible, a framework or the GPU missing.
    """
    from wallsplit_scripts.builds import (
        cuda_major,
        environment_of,
    )  # here, so that profiling one's own program needs none of it
    from wallsplit_workloads import WORKLOADS
    from wallsplit_workloads.devices import in_nvml_order
    from wallsplit_workloads.running import extra_of, require
    from wallsplit_workloads.workload import device_of, find, resolve

    workload = find(WORKLOADS, name)
    values = resolve(workload, texts)
    environment = environment_of(extra_of(workload, values))
    try:
        require(workload, values, environment)
    except WallsplitError as error:
        if not dry:
            raise
        say(f"it would not run here: {error}")
    settings = [f"--set={key}={text}" for key, text in texts.items()]
    argv = children.module("wallsplit_workloads", name, *settings, "--result", RESULT, python=environment.python)
    built_on = cuda_major(environment)
    return Program(argv, name, device_of(workload, values), in_nvml_order(children.environment()), built_on)


def own_program(command: Sequence[str]) -> Program:
    """Return a user's own command, as it is.

    Raises:
        CaptureError: there is no such program.
    """
    if shutil.which(command[0]) is None:
        raise CaptureError(f"{command[0]}: no such program, neither a file that can be run nor on PATH")
    return Program(tuple(command))


def default_name(workload: str | None, command: Sequence[str]) -> str:
    """Return the stem of the files: the workload's name, a Python program's script, else the command's own name."""
    if workload:
        return workload
    scripts = [part for part in command[:-1] and command[1:] if part.endswith(".py") and not part.startswith("-")]
    return file_stem(re.sub(r"[^\w.+-]", "_", Path((scripts or command)[0]).stem).lstrip(".-_") or "program")


def file_stem(name: str) -> str:
    """Return the name, if files can be called so everywhere.

    Raises:
        CaptureError: they cannot.
    """
    if not re.fullmatch(r"\w[\w.+-]{0,99}", name):
        raise CaptureError(f"--name {name}: not a plain file name of letters, digits and . _ + - (100 at most)")
    return name
