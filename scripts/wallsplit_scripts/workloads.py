"""`wallsplit workloads`: the built-in workloads and their parameters."""

import click

MARKS_EXTRA = "nvtx"  # every extra of a framework includes it; NumPy workloads need nothing else


@click.command("workloads")
@click.argument("name", required=False)
@click.option(
    "--extra-of", metavar="WORKLOAD", help="Print the extra of this package that WORKLOAD needs, nothing else."
)
def workloads(name: str | None, extra_of: str | None) -> None:
    """List the built-in workloads, or the parameters of the workload NAME."""
    from wallsplit_workloads import WORKLOADS  # imports NumPy, which `wallsplit --help` does without
    from wallsplit_workloads.workload import find

    if extra_of is not None:
        click.echo(find(WORKLOADS, extra_of).extra or MARKS_EXTRA)
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
