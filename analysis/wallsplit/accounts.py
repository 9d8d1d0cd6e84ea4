"""The accounts of a ledger, in priority order (docs/ledger.md): each instant goes to the first that is active."""

GPU_ACCOUNTS = ("gpu.kernel", "gpu.graph", "gpu.comm", "gpu.memcpy", "gpu.memset")
"""The GPU works: these never count as idle."""

CUDA_ACCOUNTS = (
    "cuda.profiler",
    "cuda.setup",
    "cuda.alloc",
    "cuda.launch",
    "cuda.memcpy",
    "cuda.memset",
    "cuda.graph_build",
    "cuda.other",
    "cuda.latency",
    "cuda.sync",
)
"""The GPU is idle while CUDA, or the profiler, is at work on its behalf."""

HOST = "host"
ACCOUNTS = (*GPU_ACCOUNTS, *CUDA_ACCOUNTS, HOST)
LAYERS = ACCOUNTS[:-1]
"""All that is looked for; `host` is what is left."""

API_ACCOUNTS = tuple(name for name in CUDA_ACCOUNTS if name not in ("cuda.profiler", "cuda.latency"))
"""The accounts that API calls of a class go to."""
