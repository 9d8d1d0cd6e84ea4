"""`wallsplit workloads`: the built-in workloads and their parameters."""

import click

from wallsplit_scripts import completion


@click.command("workloads")
@click.argument("name", required=False, shell_complete=completion.workloads)
@click.option(
    "--extra-of",
    metavar="WORKLOAD",
    help="Print the extra of this package that WORKLOAD needs, nothing else; fail where it lacks a GPU.",
)
def workloads(name: str | None, extra_of: str | None) -> None:
    """List the built-in workloads, or the parameters of the workload NAME."""
    from wallsplit_workloads import WORKLOADS  # imports NumPy, which `wallsplit --help` does without
    from wallsplit_workloads.running import extra_of as needed_extra
    from wallsplit_workloads.running import require_device
    from wallsplit_workloads.workload import find, resolve

    if extra_of is not None:
        workload = find(WORKLOADS, extra_of)
        values = resolve(workload, {})
        require_device(workload, values)  # before `make profile` fetches gigabytes of CUDA for nothing
        click.echo(needed_extra(workload, values))
        return
    if name is None:
        width = max(len(workload.name) for workload in WORKLOADS)
        for workload in WORKLOADS:
            click.echo(f"{workload.name:<{width}}  {workload.summary}")
        return
    workload = find(WORKLOADS, name)
    click.echo(workload.summary)
    width = max(len(parameter.name) for parameter in workload.parameters)
    for parameter in workload.parameters:
        default = "" if parameter.default is None else f" (default: {parameter.default})"
        choices = f"; one of {', '.join(parameter.choices)}" if parameter.choices else ""
        click.echo(f"  {parameter.name:<{width}}  {parameter.help}{choices}{default}")
