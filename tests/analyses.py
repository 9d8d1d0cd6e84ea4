"""Hand-made analyses: values a test can read, without a trace behind them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from explanations import explained
from recorded_runs import with_run
from wallsplit import schema
from wallsplit.accounts import ACCOUNTS, GPU_ACCOUNTS
from wallsplit.analysis import Analysis
from wallsplit.breakdowns import BREAKDOWNS
from wallsplit.ledger.ledger import Exposure, Ledger, Window
from wallsplit.model.not_used import NotUsedTable
from wallsplit.note import Note
from wallsplit.words.headline import headline

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"'><svg onload=alert(3)>",
    "</style></title></textarea><!-- ]]>",
    "{{ 7 * 7 }}{% raw %}",
    "a|b||c\\|d\\",
    "`code` **bold** _em_ ~~gone~~ [link](javascript:alert(4)) ](x) ![i](http://example.org/i.png)",
    "http://example.org www.example.org :smile: $x^2$ $$ @someone #1 <https://example.org>",
    "[red]markup[/red] [link=file:///etc/passwd]x[/link]",
    "\x1b[31mred\x1b]0;title\x07 \x9b31m",
    "nul\x00 tab\t cr\r lf\n vt\x0b",
    "\u202eevil\u2066 \u200f \u2028 \u2029",
    "=cmd|'/c calc'!A1",
    "+1",
    "-1",
    "@sum(A1)",
    "漢字 кириллица 🙂",
    "# heading",
    "x" * 100_000,
)
"""Names that mean something to some output."""


def ledger(device: int | None = 0, *, pid: int = 100, complete: bool | None = True, **times: int) -> Ledger:
    """Return a ledger of the accounts given, `gpu_kernel=1` for `gpu.kernel`; the others are 0."""
    given = {name.replace("_", ".", 1): time for name, time in times.items()}
    accounts: dict[str, int | None] = {account: given.get(account, 0) for account in ACCOUNTS}
    busy = sum(given.get(account, 0) for account in GPU_ACCOUNTS)
    exposed = {a: Exposure(2 * t, t, t) for a, t in given.items() if a.startswith("cuda.") and t}
    exposed = {a: e for a, e in exposed.items() if a not in ("cuda.profiler", "cuda.latency")}
    active = busy - given.get("gpu.memcpy", 0) - given.get("gpu.memset", 0)
    return Ledger(pid, device, device, sum(given.values()), accounts, busy, active, complete, 1.0, True, 1.0, exposed)


def cpu_ledger(wall_ns: int) -> Ledger:
    """Return the ledger of a run without CUDA."""
    accounts: dict[str, int | None] = {**dict.fromkeys(ACCOUNTS), "host": wall_ns}
    return Ledger(100, None, None, wall_ns, accounts, None, None, None, None, None, None, {})


def summary(frame_schema: pl.Schema, rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return a frame of the schema: of each row what is given, 1 in other numbers, null in other texts."""
    defaults = {name: 1 if kind.is_numeric() else None for name, kind in frame_schema.items()}
    return pl.DataFrame([{**defaults, **row} for row in rows], schema=frame_schema)


def analysis(*ledgers: Ledger, names: Sequence[str] = (), window: str = "cuda") -> Analysis:
    """Return an analysis of the ledgers; `names` are the names in every table, in notes and of the program.

    Without names each table has its own.
    """
    program = names[0] if names else "python"
    whole = Window(window, 0, max((x.wall_ns for x in ledgers), default=0)) if ledgers else None
    return Analysis(
        path="/some/folder/run.sqlite",
        size_bytes=123_456,
        format="nsys-sqlite",
        headline=headline(ledgers, whole),
        nsys_version="2025.1.3.140",
        schema_version="3.17.2",
        gpus=_gpus(ledgers),
        processes=pl.DataFrame({"pid": [x.pid for x in ledgers], "name": program}, schema=schema.PROCESSES),
        window=whole,
        window_is_explicit=False,
        ledgers=ledgers,
        tables=_tables(names),
        notes=(
            Note("opaque_graphs", "info", "Nothing to worry about."),
            *(Note("failed_calls", "warning", name, pid=100, device=0) for name in names[2:]),
        ),
        not_used=tuple(NotUsedTable(name, 7) for name in names or ("VULKAN_WORKLOAD", "NIC_METRICS")),
    )


def usual() -> Analysis:
    """Return what most people will see: one GPU, all recorded."""
    return analysis(
        ledger(gpu_kernel=1_734_000_000, gpu_memcpy=65_000_000, cuda_launch=499_000_000, host=1_063_000_000)
    )


def incomplete() -> Analysis:
    """Return one GPU of whose work a part was not recorded."""
    return analysis(ledger(complete=False, gpu_kernel=300, cuda_launch=200, host=500))


def without_gpu_rows() -> Analysis:
    """Return CUDA calls without any GPU row."""
    return analysis(ledger(None, complete=False, cuda_launch=134_000_000, host=866_000_000))


def cpu_run() -> Analysis:
    """Return a run that never called CUDA."""
    return replace(analysis(cpu_ledger(5_000_000_000), window="nvtx"), tables=dict.fromkeys(_tables(())))


def two_gpus() -> Analysis:
    """Return one process on two GPUs."""
    return analysis(ledger(0, gpu_kernel=80, gpu_comm=5, host=15), ledger(1, gpu_kernel=60, gpu_comm=15, host=25))


def hostile(names: Sequence[str] = HOSTILE) -> Analysis:
    """Return an analysis whose every text is hostile, or one of as many other names."""
    found = explained(with_run(analysis(*usual().ledgers, names=names), names), names)
    return replace(
        found,
        path=f"/some/folder/{names[0].replace('/', '')}`|\x1b\u202e.sqlite",
        gpus=found.gpus.with_columns(pl.lit(names[0]).alias("name"), pl.lit(names[5]).alias("compute_capability")),
        nsys_version=names[1],
        reconstructed=True,
        assumptions=tuple(names),
    )


def trained() -> Analysis:
    """Return a run whose manifest lies beside the trace."""
    return with_run(usual())


def trained_on_cpu() -> Analysis:
    """Return the same on a CPU, and with GPU work missing in a second ledger."""
    return with_run(replace(cpu_run(), ledgers=(*cpu_run().ledgers, *incomplete().ledgers)))


def explained_run() -> Analysis:
    """Return a run with every finding there is."""
    return explained(usual())


def explained_gpus() -> Analysis:
    """Return two GPUs whose time is explained, and one process without any GPU work."""
    silent = ledger(None, pid=200, complete=False, cuda_launch=30, host=70)
    return explained(analysis(*two_gpus().ledgers, silent))


def explained_cpu() -> Analysis:
    """Return a run that never called CUDA, explained."""
    return explained(cpu_run())


ALL = (
    usual,
    incomplete,
    without_gpu_rows,
    cpu_run,
    two_gpus,
    trained,
    trained_on_cpu,
    hostile,
    explained_run,
    explained_gpus,
    explained_cpu,
    analysis,
)
"""One of each kind; the last has no ledger at all."""


def _gpus(ledgers: Sequence[Ledger]) -> pl.DataFrame:
    known = {"name": "NVIDIA Model 1", "sm_count": 48, "clock_hz": 1_770_000_000, "memory_bytes": 8_589_934_592}
    nothing = dict.fromkeys(schema.GPU_USE.names())
    by_gpu = {ledger.gpu: ledger for ledger in ledgers if ledger.gpu is not None}
    rows = [
        {
            **nothing,
            **known,
            "gpu": gpu,
            "device": one.device,
            "busy_ns": one.gpu_busy_ns,
            "busy_ratio": one.busy_ratio,
            "kernel_active_ns": one.kernel_active_ns,
            "kernel_active_ratio": one.kernel_active_ratio,
            "processes": sorted({x.pid for x in ledgers if x.gpu == gpu}),
        }
        for gpu, one in sorted(by_gpu.items())
    ]
    return pl.DataFrame(rows, schema=schema.GPU_USE)


def _tables(names: Sequence[str]) -> dict[str, pl.DataFrame | None]:
    """Return every table; `names` are the names in each, without any each has its own."""

    def named(*own: str) -> Sequence[str]:
        return names or own

    classes = ("launch", "memcpy", "sync")
    calls = [
        {"name": name, "class": classes[number % 3], "total_ns": 100 - number}
        for number, name in enumerate(named("cudaLaunchKernel", "cudaMemcpy"))
    ]
    launched = zip(named("cuLaunchKernelEx", "cudaGraphLaunch"), named("gemm_128x64", "softmax_warp"), strict=True)
    pairs = [
        {"api_name": call, "kernel_name": kernel, "kernel_label": kernel, "queue_med_ns": None, "shared_call": False}
        for call, kernel in launched
    ]
    kernels = [{"name": name, "label": name} for name in named("kernel_a", "kernel_b")]
    projected = [{"range": name, "style": "PushPop"} for name in named("forward", "backward")]
    messages = [
        {"severity": "warning", "text": name, "standing": "stands"} for name in named("Lost 5 events.", "Clock drifts.")
    ]
    anomalies = [{"kind": "kernel_without_api_call", "detail": name} for name in named("2 kernels", "3 kernels")]
    groups = [{"group": name, "style": "PushPop"} for name in named("step #", "epoch #")]
    ranges = [{"range": name, "style": "PushPop"} for name in named("step 7", "epoch 1")]
    tables: dict[str, pl.DataFrame | None] = {
        "api_summary": summary(schema.API_SUMMARY, calls),
        "kernel_families": summary(schema.KERNEL_FAMILIES, [{"family": "gemm"}, {"family": "other"}]),
        "kernel_summary": summary(schema.KERNEL_SUMMARY, kernels),
        "memory_time_summary": summary(schema.MEMORY_TIME_SUMMARY, [{"operation": "[CUDA memset]"}]),
        "memory_size_summary": summary(schema.MEMORY_SIZE_SUMMARY, [{"operation": "[CUDA memcpy Host-to-Device]"}]),
        "launches": summary(schema.LAUNCHES, pairs),
        "nvtx_groups": summary(schema.NVTX_GROUPS, groups),
        "nvtx_summary": summary(schema.NVTX_SUMMARY, ranges),
        "nvtx_gpu_projection": summary(schema.NVTX_GPU_PROJECTION, projected),
        "osrt_summary": summary(schema.OSRT_SUMMARY, [{"name": name} for name in named("poll", "sem_wait")]),
        "graph_replays": schema.empty(schema.GRAPH_REPLAY_SUMMARY),
        "anomalies": summary(schema.ANOMALIES, anomalies),
        "nsys_messages": summary(schema.NSYS_MESSAGES, messages),
    }
    return {breakdown.name: tables[breakdown.name] for breakdown in BREAKDOWNS}
