"""`wallsplit scrub`: a trace in; a trace out that holds nothing private, checked before it is kept."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wallsplit_scripts.progress import progress

if TYPE_CHECKING:
    from wallsplit.export.scrub import Scrubbed
    from wallsplit.trace.shareable import TextKind

SHOWN = 20
"""Names of a kind that are printed."""
TITLES: "dict[TextKind, str]" = {
    "kernel": "names of kernels",
    "range": "names of ranges",
    "process": "names of programs",
}


@click.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--hash-kernels", is_flag=True, help="Write kernel_1f3a… for the names of kernels.")
@click.option(
    "--hash-ranges",
    is_flag=True,
    help="Write range_kqvd… for the names of NVTX ranges; words of phases and steps stay.",
)
@click.option("--keep-time", is_flag=True, help="Keep the time of day of the recording, and the NVML samples with it.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option("--nsys", metavar="PATH", help="The nsys that exports reports (.nsys-rep). Default: the one found.")
def scrub(
    trace: Path,
    out: Path,
    hash_kernels: bool,
    hash_ranges: bool,
    keep_time: bool,
    as_json: bool,
    force: bool,
    nsys: str | None,
) -> int:
    """Write TRACE anew to OUT (.sqlite), without what is private.

    OUT holds times, sizes and numbers, names of kernels, ranges and programs without paths, users, hosts and addresses,
    and nothing of the environment, the command line or the time of day. Before OUT is kept, its ledgers are compared
    with those of TRACE, and its bytes searched for every secret of TRACE.
    """
    from wallsplit.export.scrub import STAGES
    from wallsplit.export.scrub import scrub as scrub_trace
    from wallsplit_scripts.cache import export_of

    with progress(len(STAGES)) as advance:
        done = scrub_trace(
            export_of(trace, nsys),
            out,
            hash_kernels=hash_kernels,
            hash_ranges=hash_ranges,
            keep_time=keep_time,
            force=force,
            shown_as=trace,
            advance=advance,
        )
    click.echo(_json(done) if as_json else _text(done), nl=False)
    return 0


def _json(done: "Scrubbed") -> str:
    from wallsplit.report.json import text

    return text(done.document())


def _text(done: "Scrubbed") -> str:
    from wallsplit import units
    from wallsplit.text import for_people

    rows, secrets = units.count(sum(done.shared_rows.values())), units.count(done.secrets)
    lines = [
        f"{for_people(str(done.path))}: {units.size(done.size_bytes)}, {rows} rows; ledgers as before.",
        f"Secrets of the trace looked for in its bytes: {secrets}, none found.",
    ]
    left = [f"{for_people(table, 60)} ({units.count(rows)})" for table, rows in done.left_out_rows.items()]
    if left:
        lines.append(f"Left out, with rows: {', '.join(left)}.")
    if done.manifest:
        lines.append(f"Manifest: {for_people(str(done.manifest))}")
    for kind, title in TITLES.items():
        names = done.names[kind]
        if names.texts:
            changed = f", {units.count(names.changed)} of them changed" if names.changed else ""
            lines.append(f"Still in it, {title}: {units.count(len(names.texts))}{changed}")
            lines += [f"  {for_people(text, 100)}" for text in names.texts[:SHOWN]]
            if len(names.texts) > SHOWN:
                lines.append(f"  … and {units.count(len(names.texts) - SHOWN)} more; --json lists them all")
    return "\n".join(lines) + "\n"
