"""`wallsplit workloads`: the built-in workloads and their parameters."""

from collections.abc import Sequence

import click

from wallsplit_scripts import completion

STUDY = "all"


@click.command("workloads")
@click.argument("arguments", nargs=-1, metavar="[NAME]", shell_complete=completion.workloads)
@click.option(
    "--extra-of",
    metavar="WORKLOAD",
    help="Print the virtual environment and the extra of this package that WORKLOAD needs on this machine, a pair a "
    f"line, nothing else; fail where it lacks a GPU. `{STUDY}` is the whole study; options of `wallsplit profile` may "
    "follow after --.",
)
def workloads(arguments: tuple[str, ...], extra_of: str | None) -> None:
    """List the built-in workloads, or the parameters of the workload NAME."""
    from wallsplit_workloads import WORKLOADS  # imports NumPy, which `wallsplit --help` does without
    from wallsplit_workloads.workload import find

    if extra_of is not None:
        _print_builds(extra_of, arguments)
        return
    if len(arguments) > 1:
        raise click.UsageError(f"Got unexpected extra argument ({arguments[1]})")
    if not arguments:
        width = max(len(workload.name) for workload in WORKLOADS)
        for workload in WORKLOADS:
            click.echo(f"{workload.name:<{width}}  {workload.summary}")
        return
    workload = find(WORKLOADS, arguments[0])
    click.echo(workload.summary)
    width = max(len(parameter.name) for parameter in workload.parameters)
    for parameter in workload.parameters:
        default = "" if parameter.default is None else f" (default: {parameter.default})"
        choices = f"; one of {', '.join(parameter.choices)}" if parameter.choices else ""
        click.echo(f"  {parameter.name:<{width}}  {parameter.help}{choices}{default}")


def _print_builds(name: str, options: Sequence[str]) -> None:
    """Print a line of folder and extra for each build the workload needs, run with these options of `profile`."""
    from wallsplit_scripts import builds
    from wallsplit_scripts.profile import parameters_in
    from wallsplit_workloads import WORKLOADS
    from wallsplit_workloads.running import extra_of, require_device
    from wallsplit_workloads.workload import find, resolve

    if name == STUDY:
        wanted = builds.of_study()
    else:
        workload = find(WORKLOADS, name)
        values = resolve(workload, parameters_in(options))
        require_device(workload, values)  # before `make profile` fetches gigabytes of CUDA for nothing
        wanted = builds.needed(extra_of(workload, values))
    for build in wanted:
        click.echo(f"{build.folder} {build.extra}")
