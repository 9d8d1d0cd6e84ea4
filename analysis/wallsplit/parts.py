"""The five parts that accounts add up to for people, and what each account means in plain words."""

from dataclasses import dataclass

from wallsplit.accounts import CUDA_ACCOUNTS, HOST


@dataclass(frozen=True)
class Part:
    """Accounts that the headline and the figures show as one."""

    key: str
    title: str
    accounts: tuple[str, ...]
    on_gpu: bool


PARTS = (
    Part("computing", "GPU computing", ("gpu.kernel", "gpu.graph"), on_gpu=True),
    Part("communicating", "GPU communicating", ("gpu.comm",), on_gpu=True),
    Part("copying", "GPU copying", ("gpu.memcpy", "gpu.memset"), on_gpu=True),
    Part("cuda", "CUDA calls with the GPU idle", CUDA_ACCOUNTS, on_gpu=False),
    Part("host", "host code with the GPU idle", (HOST,), on_gpu=False),
)
"""Every account is in exactly one part."""

MEANINGS = {
    "gpu.kernel": "a kernel runs on the GPU",
    "gpu.graph": "a CUDA graph, recorded as a whole, runs on the GPU",
    "gpu.comm": "only a communication kernel (NCCL) runs: communication that nothing hides",
    "gpu.memcpy": "the GPU copies memory, and no kernel runs",
    "gpu.memset": "the GPU fills memory, and nothing else runs",
    "cuda.profiler": "GPU idle; the profiler itself holds up the program",
    "cuda.setup": "GPU idle; CUDA creates contexts, loads modules, makes streams",
    "cuda.alloc": "GPU idle; the program allocates or frees memory",
    "cuda.launch": "GPU idle; the program is inside a call that launches work",
    "cuda.memcpy": "GPU idle; the program is inside a copy call",
    "cuda.memset": "GPU idle; the program is inside a memset call",
    "cuda.graph_build": "GPU idle; a CUDA graph is recorded or built",
    "cuda.other": "GPU idle; any other CUDA call, such as recording an event",
    "cuda.latency": "GPU idle; work has been handed over but has not started yet",
    "cuda.sync": "GPU idle; the tail of a wait, after the GPU has already finished",
    "host": "GPU idle, no CUDA call: Python, the framework, loading data, waiting for input",
}
"""What is going on while time is booked to an account, in plain words."""
