"""`wallsplit export`: a trace in; a timeline out that viewers show, with the ledger as a track of each device."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wallsplit_scripts.progress import progress

if TYPE_CHECKING:
    from wallsplit.export.export import Exported, Format


@click.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Where the timeline goes: run.pftrace, run.json; with .gz behind it, it is compressed.",
)
@click.option(
    "--format",
    "chosen",
    type=click.Choice(["perfetto", "chrome"]),
    help="Perfetto's own format or Chrome's JSON. Default: by the name, Chrome's for .json.",
)
@click.option("--window", metavar="W", help="As for analyze; only what overlaps it is written. Default: everything.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option("--nsys", metavar="PATH", help="The nsys that exports reports (.nsys-rep). Default: the one found.")
def export(
    trace: Path,
    output: Path,
    chosen: "Format | None",
    window: str | None,
    as_json: bool,
    force: bool,
    nsys: str | None,
) -> int:
    """Write TRACE as a timeline, the ledger as a track of each device on top.

    Below it: why time went there and the steps, CUDA calls and NVTX ranges by thread, GPU work by stream, and an arrow
    from each call to the first operation it started. The slices of a ledger's track add up to the ledger.
    """
    from wallsplit.export.export import STAGES
    from wallsplit.export.export import export as export_trace
    from wallsplit_scripts.cache import export_of

    with progress(len(STAGES)) as advance:
        done = export_trace(
            export_of(trace, nsys),
            output,
            chosen=chosen,
            window=window,
            force=force,
            shown_as=trace,
            advance=advance,
        )
    click.echo(_json(done) if as_json else _text(done), nl=False)
    return 0


def _json(done: "Exported") -> str:
    from wallsplit.report.json import text

    return text(done.document())


def _text(done: "Exported") -> str:
    from wallsplit import units
    from wallsplit.text import for_people

    viewer = "ui.perfetto.dev (the file stays on your machine)" if done.format == "perfetto" else "chrome://tracing"
    return (
        f"{for_people(str(done.path))}: {units.size(done.size_bytes)}, {units.count(done.slices)} slices on "
        f"{units.count(len(done.tracks))} tracks, {units.count(done.arrows)} arrows from calls to GPU work.\n"
        f"The tracks of the ledger add up to it. Open it in {viewer}.\n"
    )
