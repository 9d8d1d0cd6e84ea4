"""What a newcomer must know before believing the numbers, one sentence or two each."""

from collections.abc import Iterator, Sequence

import polars as pl

from wallsplit.breakdowns.anomalies import IS_POLL
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.model import Model
from wallsplit.note import Note
from wallsplit.text import shorten

DIAGNOSTIC_LEVELS = {2: "warning", 3: "error"}
DIAGNOSTICS_SHOWN = 12
CAUSES_OF_NO_KERNELS = (
    "Typical causes: WSL, a profiler older than the GPU or its driver, a container without the needed rights, "
    "or launches that failed"
)


def notes(model: Model, ledgers: Sequence[Ledger], window: Window | None, *, explicit: bool) -> tuple[Note, ...]:
    """Return the notes of one analysis, the most important first."""
    found = [
        *_reconstructed(model),
        *_no_cuda(model),
        *_failed_calls(model),
        *_without_gpu_work(ledgers),
        *_lost_launches(model, ledgers),
        *_orphans(ledgers),
        *_opaque_graphs(model),
        *_explicit_window(window, explicit=explicit),
        *_unusable_rows(model),
        *_diagnostics(model),
    ]
    order = ("error", "warning", "info")
    return tuple(sorted(found, key=lambda note: order.index(note.level)))


def _reconstructed(model: Model) -> Iterator[Note]:
    if model.capture.note:
        yield Note("warning", model.capture.note)


def _no_cuda(model: Model) -> Iterator[Note]:
    if model.cuda_span is not None:
        return
    counts = ((model.nvtx.height, "NVTX range"), (model.osrt.height, "OS runtime call"))
    parts = [f"{count:,} {what}{'s' if count != 1 else ''}" for count, what in counts]
    yield Note(
        "warning",
        "This trace has no CUDA rows, so nothing can be said about a GPU: the program used none, or CUDA tracing did "
        f"not start. It has {' and '.join(parts)}. GPU and CUDA accounts are not measured, which is not the same as 0.",
    )


def _failed_calls(model: Model) -> Iterator[Note]:
    failed = model.api_calls.filter(pl.col("return_value") != 0)
    counts = failed.filter(~IS_POLL).group_by("name", "return_value").len()
    if counts.is_empty():
        return
    named = counts.with_columns(model.names.text(counts["name"]))
    ordered = named.sort("len", "name", "return_value", descending=[True, False, False])
    listed = [f"{shorten(name)} returned {code} ({count:,} ×)" for name, code, count in ordered.iter_rows()]
    more = f" and {len(listed) - 6} more" if len(listed) > 6 else ""
    yield Note(
        "warning",
        f"CUDA calls failed: {', '.join(listed[:6])}{more}. What a failed launch would have done is missing here.",
    )


def _without_gpu_work(ledgers: Sequence[Ledger]) -> Iterator[Note]:
    silent = [led for led in _first_of_each(ledgers) if led.device is None and led.gpu_complete is not None]
    launched = [led.pid for led in silent if not led.gpu_complete]
    quiet = [led.pid for led in silent if led.gpu_complete]
    if launched:
        yield Note(
            "warning",
            f"{_processes(launched)} launched kernels, but the trace has no GPU work of it. {CAUSES_OF_NO_KERNELS}. "
            "How busy the GPU was is not measured; it was not necessarily idle.",
        )
    if quiet:
        yield Note(
            "info",
            f"{_processes(quiet)} called CUDA but launched nothing that was recorded; "
            "its ledger says nothing about the GPU.",
        )


def _lost_launches(model: Model, ledgers: Sequence[Ledger]) -> Iterator[Note]:
    lost = [led for led in _first_of_each(ledgers) if led.device is not None and not led.gpu_complete]
    for led in lost:
        graphs = _uncovered_graph_launches(model, led.pid)
        why = (
            f"{graphs:,} CUDA graph launches own no GPU row: this nsys exports no whole-graph rows; record again with "
            "--cuda-graph-trace=node, or with nsys 2024.3 or later"
            if graphs
            else "the window was cut while work was under way, launches failed, or the profiler lost records"
        )
        share = led.launch_coverage or 0.0
        yield Note(
            "warning",
            f"Process {led.pid}: only {100 * share:.1f} % of its launches own a GPU row ({why}). "
            "GPU times are lower bounds, printed with ≥; idle time is an upper bound.",
        )


def _uncovered_graph_launches(model: Model, pid: int) -> int:
    rows = [f.filter(pl.col("pid") == pid)["correlation_id"] for f in model.gpu_operations]
    graph_launch = model.names.texts.str.contains("^cu(da)?GraphLaunch").arg_true().cast(pl.Int32)
    calls = model.api_calls.filter(
        pl.col("pid") == pid, pl.col("name").is_in(graph_launch.implode()), pl.col("booked_class") != "graph_build"
    )
    covered = calls["correlation_id"].is_in(pl.concat(rows).drop_nulls().implode()).fill_null(value=False)
    return calls.height - int(covered.sum())


def _orphans(ledgers: Sequence[Ledger]) -> Iterator[Note]:
    for led in _first_of_each(ledgers):
        if led.device is not None and not led.api_complete:
            share = led.api_coverage or 0.0
            whole = "The GPU times are whole, but launch" if led.gpu_complete else "Launch"
            yield Note(
                "warning",
                f"Process {led.pid}, GPU {led.device}: only {100 * share:.1f} % of its kernels have the API call that "
                f"launched them; the recording began after the work was enqueued. {whole} figures cover only the calls "
                "seen, and latency is unknown for the rest.",
            )


def _opaque_graphs(model: Model) -> Iterator[Note]:
    count = model.graph_replays.height
    if count:
        yield Note(
            "info",
            f"{count:,} CUDA graph replays were recorded as a whole: the GPU was busy, but the kernels inside are not "
            "listed. Record with --cuda-graph-trace=node to see them (it costs more).",
        )


def _explicit_window(window: Window | None, *, explicit: bool) -> Iterator[Note]:
    if explicit and window is not None:
        yield Note(
            "info",
            f"The ledger covers the window {window.name} exactly; the tables list every row that overlaps it, "
            "at its full length.",
        )


def _unusable_rows(model: Model) -> Iterator[Note]:
    if model.unusable_rows:
        listed = ", ".join(f"{count:,} in {table}" for table, count in sorted(model.unusable_rows.items()))
        yield Note(
            "info",
            f"Rows without a usable end or with impossible times were left out: {listed}. "
            "Ranges still open when the recording stopped are the usual reason.",
        )


def _diagnostics(model: Model) -> Iterator[Note]:
    rows = model.diagnostics.filter(pl.col("severity").is_in(list(DIAGNOSTIC_LEVELS)))
    counts = rows.group_by("severity", "text", maintain_order=True).len().sort("severity", descending=True)
    for severity, text, count in counts.head(DIAGNOSTICS_SHOWN).iter_rows():
        times = f" ({count:,} ×)" if count > 1 else ""
        yield Note("info", f"nsys {DIAGNOSTIC_LEVELS[severity]}{times}: {' '.join(text.split())}")
    if counts.height > DIAGNOSTICS_SHOWN:
        left = counts.height - DIAGNOSTICS_SHOWN
        yield Note("info", f"nsys wrote {left} more message{'s' if left > 1 else ''}; see the table DIAGNOSTIC_EVENT.")


def _first_of_each(ledgers: Sequence[Ledger]) -> list[Ledger]:
    """Return one ledger per process and device: with many windows, what is missing is missing in each."""
    return list({(led.pid, led.device): led for led in reversed(ledgers)}.values())[::-1]


def _processes(pids: list[int]) -> str:
    distinct = sorted(set(pids))
    return f"Process {distinct[0]}" if len(distinct) == 1 else f"Processes {', '.join(map(str, distinct))} each"
