"""The accounts of a ledger: the only place that says what they are (docs/ledger.md).

Each instant goes to the first account, in this order, that is active. `PARTS` are what people read first: each account
is in exactly one, and the part gives it its words and colour.
"""

from typing import Literal

from wallsplit.frozen import dataclass

Kind = Literal["gpu", "elsewhere", "cuda", "host"]


@dataclass(frozen=True)
class Part:
    """Accounts that the headline and the figures show as one."""

    key: str
    title: str
    light: str
    """Its colour on a light ground: of Okabe and Ito's palette, which people with any colour vision tell apart."""
    dark: str
    """The same on a dark ground."""
    terminal: str
    """The same among a terminal's own colours."""
    glyph: str
    ascii_glyph: str
    hatch: str = ""
    """Matplotlib's; so that colour is not all that tells."""
    without_device: str = ""
    """The title where it is not known whether the GPU was idle; empty: the same."""

    @property
    def accounts(self) -> tuple[str, ...]:
        """The names of its accounts, in order of priority."""
        return tuple(account.name for account in TABLE if account.part == self.key)

    @property
    def on_gpu(self) -> bool:
        """Whether this is GPU work of the ledger's own process: a lower bound where rows are missing."""
        return set(self.accounts) <= set(GPU_ACCOUNTS)


PARTS = (
    Part("computing", "GPU computing", "#0072b2", "#2b93d1", "blue", "█", "#"),
    Part("communicating", "GPU communicating", "#cc79a7", "#cc79a7", "magenta", "▓", "%"),
    Part("copying", "GPU copying", "#009e73", "#14b386", "green", "▒", "+"),
    Part("elsewhere", "GPU working for another process", "#56b4e9", "#56b4e9", "cyan", "▚", "&"),
    Part("setup", "CUDA set-up, once", "#d55e00", "#e8772a", "red", "▞", "~", "xx", "CUDA set-up, once"),
    Part("cuda", "CUDA calls with the GPU idle", "#e69f00", "#e69f00", "yellow", "░", "=", "\\\\\\", "CUDA calls"),
    Part("host", "host code with the GPU idle", "#a3a9b1", "#7d858e", "bright_black", "·", ".", "///", "host code"),
)


@dataclass(frozen=True)
class Account:
    """One destination of time."""

    name: str
    part: str
    meaning: str
    """What is going on while time is booked here, in plain words."""

    @property
    def kind(self) -> Kind:
        """Whose time it is: of this ledger's GPU work, of another process's, of CUDA calls, of the host."""
        if self.part == "elsewhere":
            return "elsewhere"
        return "gpu" if self.name.startswith("gpu.") else "cuda" if self.name.startswith("cuda.") else "host"


TABLE = (
    Account("gpu.kernel", "computing", "a kernel runs on the GPU"),
    Account("gpu.graph", "computing", "a CUDA graph, recorded as a whole, runs on the GPU"),
    Account("gpu.comm", "communicating", "only a communication kernel runs: communication that nothing hides"),
    Account("gpu.memcpy", "copying", "the GPU copies memory, and no kernel runs"),
    Account("gpu.memset", "copying", "the GPU fills memory, and nothing else runs"),
    Account("gpu.other", "elsewhere", "the GPU works for another process, and not for this one"),
    Account("cuda.profiler", "cuda", "GPU idle; the profiler itself holds up the program"),
    Account("cuda.setup", "setup", "GPU idle; CUDA creates contexts, loads code, makes streams"),
    Account("cuda.alloc", "cuda", "GPU idle; the program allocates or frees memory"),
    Account("cuda.launch", "cuda", "GPU idle; the program is inside a call that launches work"),
    Account("cuda.memcpy", "cuda", "GPU idle; the program is inside a copy call"),
    Account("cuda.memset", "cuda", "GPU idle; the program is inside a memset call"),
    Account("cuda.graph_build", "cuda", "GPU idle; a CUDA graph is recorded or built"),
    Account("cuda.other", "cuda", "GPU idle; any other CUDA call, such as recording an event"),
    Account("cuda.latency", "cuda", "GPU idle; work has been handed over but has not started yet"),
    Account("cuda.sync", "cuda", "GPU idle; the tail of a wait, after the GPU has already finished"),
    Account("host", "host", "GPU idle, no CUDA call: Python, the framework, loading data, waiting for input"),
)

ACCOUNTS = tuple(account.name for account in TABLE)
HOST = ACCOUNTS[-1]
LAYERS = ACCOUNTS[:-1]
"""All that is looked for; `host` is what is left."""
GPU_ACCOUNTS = tuple(account.name for account in TABLE if account.kind == "gpu")
"""The GPU works for this ledger: these never count as idle, and `busy` is their union."""
OTHER_PROCESS = "gpu.other"
CUDA_ACCOUNTS = tuple(account.name for account in TABLE if account.kind == "cuda")
"""The GPU is idle while CUDA, or the profiler, is at work on its behalf."""
API_ACCOUNTS = tuple(name for name in CUDA_ACCOUNTS if name not in ("cuda.profiler", "cuda.latency"))
"""The accounts that API calls of a class go to."""
MEANINGS = {account.name: account.meaning for account in TABLE}
PART_OF = {account.name: next(part for part in PARTS if part.key == account.part) for account in TABLE}
