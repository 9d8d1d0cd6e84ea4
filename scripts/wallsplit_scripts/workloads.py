"""`wallsplit workloads`: the built-in workloads and their parameters."""

import click


@click.command("workloads")
@click.argument("name", required=False)
def workloads(name: str | None) -> None:
    """List the built-in workloads, or the parameters of the workload NAME."""
    from wallsplit_workloads import WORKLOADS  # imports NumPy, which `wallsplit --help` does without
    from wallsplit_workloads.workload import find

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
