"""What a newcomer must know before believing the numbers, one sentence or two each."""

from collections.abc import Iterator, Sequence

import polars as pl

from wallsplit import units
from wallsplit.breakdowns import nsys_messages
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.ledger.rows import DRIVING
from wallsplit.model import Model
from wallsplit.model.communication import communication_library
from wallsplit.model.error_codes import is_final
from wallsplit.note import Kind, Level, Note
from wallsplit.text import shorten
from wallsplit.words.failed_calls import failed_calls

CAUSES_OF_NO_KERNELS = (
    "Typical causes: WSL, a profiler older than the GPU or its driver, a container without the needed rights, "
    "or a kernel that never ended"
)
A_KERNEL_FAILED = "A kernel failed, as calls after it report: what fails, or is cut off by it, leaves no row"
MESSAGES_QUOTED = 3
MESSAGES_QUOTED_WITHOUT_CUDA = 12
"""Where nothing else tells why there is no CUDA row."""
TABLES_NAMED = 40
RANGES_SHARE = 0.9
"""Of the recording: ranges that cover less of it leave out what people would miss."""


def notes(
    model: Model, ledgers: Sequence[Ledger], window: Window | None, *, explicit: bool, asked_for_cpu: bool = False
) -> tuple[Note, ...]:
    """Return the notes of one analysis, the most important first; `asked_for_cpu`: no GPU is missed."""
    every = [
        *_reconstructed(model),
        *_no_cuda(model, asked_for_cpu=asked_for_cpu),
        *_beyond_ranges(model, window, explicit=explicit),
        *failed_calls(model),
        *_without_gpu_work(model, ledgers),
        *_lost_launches(model, ledgers),
        *_orphans(ledgers),
        *_assumed_gpus(model),
        *_other_gpu_work(model),
        *_opaque_graphs(model),
        *_communication(model),
        *_explicit_window(window, explicit=explicit),
        *_unusable_rows(model),
        *_not_used(model),
        *_nsys_messages(model),
    ]
    order = ("error", "warning", "info")
    return tuple(sorted(every, key=lambda note: order.index(note.level)))


def _reconstructed(model: Model) -> Iterator[Note]:
    if model.capture.note:
        yield Note("reconstructed", "warning", model.capture.note)


def _no_cuda(model: Model, *, asked_for_cpu: bool) -> Iterator[Note]:
    if model.cuda_span is not None:
        return
    counts = ((len(model.annotations), "NVTX range"), (model.osrt.height, "OS runtime call"))
    parts = [f"{count:,} {what}{'s' if count != 1 else ''}" for count, what in counts]
    if asked_for_cpu:
        asked = "This ran on the CPU, as it was asked to: GPU and CUDA accounts are not measured, which is not the same"
        yield Note("no_cuda", "info", f"{asked} as 0. The trace has {' and '.join(parts)}.")
        return
    yield Note(
        "no_cuda",
        "warning",
        "This trace has no CUDA rows, so nothing can be said about a GPU: the program used none, or CUDA tracing did "
        f"not start. It has {' and '.join(parts)}. GPU and CUDA accounts are not measured, which is not the same as 0.",
    )


def _beyond_ranges(model: Model, window: Window | None, *, explicit: bool) -> Iterator[Note]:
    """Tell of a default window that is much shorter than the recording: importing a framework can outlast training."""
    recorded_ns = model.capture.duration_ns
    if explicit or window is None or window.name != "nvtx" or recorded_ns is None:
        return
    if window.wall_ns < RANGES_SHARE * recorded_ns:
        yield Note(
            "beyond_ranges",
            "warning" if window.wall_ns < recorded_ns / 2 else "info",
            f"Of {units.ns(recorded_ns)} recorded, the {units.ns(window.wall_ns)} from the first to the last NVTX "
            "range are analysed. What is before and after, such as importing and loading, is in no figure here; "
            "--window capture takes it in.",
        )


def _without_gpu_work(model: Model, ledgers: Sequence[Ledger]) -> Iterator[Note]:
    silent = [led for led in _first_of_each(ledgers) if led.device is None and led.gpu_complete is not None]
    lost = [led.pid for led in silent if not led.gpu_complete]
    if lost:
        failed = model.api_calls.filter(pl.col("pid").is_in(lost), pl.col("return_value") > 0)["return_value"].unique()
        cause = A_KERNEL_FAILED if any(is_final(code) for code in failed) else CAUSES_OF_NO_KERNELS
        yield _of_processes(
            lost,
            "no_gpu_work",
            "warning",
            f"launched kernels, but the trace has no GPU work of it. {cause}. "
            "How busy the GPU was is not measured; it was not necessarily idle.",
        )
    quiet: dict[str, list[int]] = {}
    for led in silent:
        if led.gpu_complete:
            quiet.setdefault(_why_quiet(model, led.pid), []).append(led.pid)
    for why, pids in quiet.items():
        text = f"called CUDA but launched nothing: {why}. Its ledger says nothing about the GPU."
        yield _of_processes(pids, "nothing_launched", "info", text)


def _why_quiet(model: Model, pid: int) -> str:
    """Return why a process of which no launch is missing has no GPU work."""
    calls = model.api_calls.filter(
        pl.col("pid") == pid, pl.col("api_class").is_in(list(DRIVING)), pl.col("booked_class") != "graph_build"
    )
    if calls.is_empty():
        return "none of its calls launches, copies or sets"
    if (calls["return_value"].fill_null(0) > 0).all():
        return "every call that launches, copies or sets failed"
    return "of its copies and sets the trace has no GPU work"


def _lost_launches(model: Model, ledgers: Sequence[Ledger]) -> Iterator[Note]:
    lost = [led for led in _first_of_each(ledgers) if led.device is not None and not led.gpu_complete]
    for led in lost:
        graphs = _uncovered_graph_launches(model, led.pid)
        why = (
            f"{graphs:,} CUDA graph launches own no GPU row: this nsys exports no whole-graph rows; record again with "
            "--cuda-graph-trace=node, or with nsys 2024.3 or later"
            if graphs
            else "the window was cut while work was under way, or the profiler lost records"
        )
        share = led.launch_coverage or 0.0
        yield Note(
            "lost_launches",
            "warning",
            f"Process {led.pid}: only {100 * share:.1f} % of its launches own a GPU row ({why}). "
            "GPU times are lower bounds, printed with ≥; idle time is an upper bound.",
            led.pid,
            led.device,
        )


def _uncovered_graph_launches(model: Model, pid: int) -> int:
    rows = [f.filter(pl.col("pid") == pid)["correlation_id"] for f in model.gpu_operations]
    graph_launch = model.names.texts.str.contains("^cu(da)?GraphLaunch").arg_true().cast(pl.Int32)
    calls = model.api_calls.filter(
        pl.col("pid") == pid,
        pl.col("name").is_in(graph_launch.implode()),
        pl.col("booked_class") != "graph_build",
        pl.col("return_value").fill_null(0) <= 0,
    )
    covered = calls["correlation_id"].is_in(pl.concat(rows).drop_nulls().implode()).fill_null(value=False)
    return calls.height - int(covered.sum())


def _orphans(ledgers: Sequence[Ledger]) -> Iterator[Note]:
    for led in _first_of_each(ledgers):
        if led.device is not None and not led.api_complete:
            share = led.api_coverage or 0.0
            whole = "The GPU times are whole, but launch" if led.gpu_complete else "Launch"
            yield Note(
                "late_recording",
                "warning",
                f"Process {led.pid}, GPU {led.gpu}: only {100 * share:.1f} % of its kernels have the API call that "
                f"launched them; the recording began after the work was enqueued. {whole} figures cover only the calls "
                "seen, and latency is unknown for the rest.",
                led.pid,
                led.device,
            )


def _assumed_gpus(model: Model) -> Iterator[Note]:
    """Say it where several processes use a device of one number and the export does not tell all their GPUs."""
    users: dict[int, set[int]] = {}
    for frame in model.gpu_operations:
        for pid, device in frame.select("pid", "device").unique().iter_rows():
            users.setdefault(device, set()).add(pid)
    for device, pids in sorted(users.items()):
        unknown = [pid for pid in sorted(pids) if (pid, device) not in model.physical_gpus]
        if len(pids) > 1 and unknown:
            whose = f"{'process' if len(unknown) == 1 else 'processes'} {', '.join(map(str, unknown))}"
            yield Note(
                "assumed_gpu",
                "info",
                f"{len(pids)} processes use a device {device}, and the export does not tell which GPU that of {whose} "
                f"is: it is taken to be GPU {device}. With CUDA_VISIBLE_DEVICES it may be another one.",
                device=device,
            )


def _other_gpu_work(model: Model) -> Iterator[Note]:
    rows: dict[str, int] = {}
    for table in model.not_used:
        if table.gpu_work:
            rows[table.gpu_work] = rows.get(table.gpu_work, 0) + table.rows
    if rows:
        yield Note(
            "other_gpu_work",
            "warning",
            f"The trace tells of GPU work that is not CUDA's, too: {_listed(rows)}. It is in no figure here: "
            "“idle” means that no CUDA work ran.",
        )


def _opaque_graphs(model: Model) -> Iterator[Note]:
    count = model.graph_replays.height
    if count:
        yield Note(
            "opaque_graphs",
            "info",
            f"{count:,} CUDA graph replays were recorded as a whole: the GPU was busy, but the kernels inside are not "
            "listed. Record with --cuda-graph-trace=node to see them (it costs more).",
        )


def _communication(model: Model) -> Iterator[Note]:
    kernels = model.kernels.filter("is_comm").group_by("short_name", "name", maintain_order=True).len()
    texts = (model.names.text(kernels[column]) for column in ("short_name", "name"))
    libraries: dict[str, int] = {}
    for short, demangled, count in zip(*texts, kernels["len"], strict=True):
        library = communication_library(short) or communication_library(demangled) or ""
        libraries[library] = libraries.get(library, 0) + count
    if libraries:
        listed = _listed(dict(sorted(libraries.items(), key=lambda item: -item[1])), "kernel")
        yield Note("communication", "info", f"Communication, recognised by the names of kernels: {listed}.")


def _explicit_window(window: Window | None, *, explicit: bool) -> Iterator[Note]:
    if explicit and window is not None:
        yield Note(
            "explicit_window",
            "info",
            f"The ledger covers the window {window.name} exactly; the tables list every row that overlaps it, "
            "at its full length.",
        )


def _unusable_rows(model: Model) -> Iterator[Note]:
    if model.unusable_rows:
        listed = ", ".join(f"{count:,} in {table}" for table, count in sorted(model.unusable_rows.items()))
        yield Note(
            "unusable_rows",
            "info",
            f"Rows without a usable end or with impossible times were left out: {listed}. "
            "Ranges still open when the recording stopped are the usual reason.",
        )


def _not_used(model: Model) -> Iterator[Note]:
    tables = {shorten(table.table, 60): table.rows for table in model.not_used[:TABLES_NAMED]}
    left = len(model.not_used) - len(tables)
    if tables:
        more = f", and {left} more tables" if left else ""
        yield Note("not_used", "info", f"Also recorded and not used here: {_listed(tables)}{more}.")


def _nsys_messages(model: Model) -> Iterator[Note]:
    """Fold what nsys warned of, and the tables do not refute, into one line."""
    every = nsys_messages.compute(model, None).filter(
        pl.col("standing") == "stands", pl.col("severity").is_in(["warning", "error"])
    )
    texts = every.group_by("severity", "text", maintain_order=True).agg(pl.col("count").sum()).sort("severity")
    if texts.is_empty():
        return
    most = MESSAGES_QUOTED if model.cuda_span else MESSAGES_QUOTED_WITHOUT_CUDA
    quoted = [f"“{shorten(' '.join(text.split()), 160)}”" for text in texts["text"].head(most)]
    more = f", and {texts.height - most} more, among the messages of nsys" if texts.height > most else ""
    count = int(texts["count"].sum())
    times = "once" if count == 1 else f"{count:,} times"
    yield Note("nsys_messages", "info", f"nsys warned {times} about this recording: {', '.join(quoted)}{more}.")


def _first_of_each(ledgers: Sequence[Ledger]) -> list[Ledger]:
    """Return one ledger per process and device: with many windows, what is missing is missing in each."""
    return list({(led.pid, led.device): led for led in reversed(ledgers)}.values())[::-1]


def _listed(rows: dict[str, int], unit: str = "row") -> str:
    return ", ".join(f"{name} ({count:,} {unit}{'s' if count != 1 else ''})" for name, count in rows.items())


def _of_processes(pids: list[int], kind: Kind, level: Level, text: str) -> Note:
    """Return one note on what several processes have in common."""
    distinct = sorted(set(pids))
    if len(distinct) == 1:
        return Note(kind, level, f"Process {distinct[0]} {text}", pid=distinct[0])
    return Note(kind, level, f"Processes {', '.join(map(str, distinct))} each {text}")
