"""The ledger as a value: where a window's time went."""

from wallsplit.frozen import dataclass


@dataclass(frozen=True)
class Window:
    """A half-open interval [start_ns, end_ns) on the trace clock."""

    name: str  # cuda, nvtx, capture, START:END, nvtx:NAME
    start_ns: int
    end_ns: int
    pid: int | None = None  # the process of one NVTX range

    @property
    def wall_ns(self) -> int:
        """Length in ns."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Exposure:
    """Union time of one API class in ns, split by whether the ledger's GPU was working meanwhile."""

    union_ns: int
    hidden_ns: int
    exposed_ns: int


@dataclass(frozen=True)
class Ledger:
    """Where the window's time went, for one process on one device. None = not measured."""

    pid: int
    device: int | None
    gpu: int | None  # the physical GPU behind the device
    wall_ns: int
    accounts: dict[str, int | None]  # ACCOUNTS, all of them, in order; they sum to wall_ns
    gpu_busy_ns: int | None
    kernel_active_ns: int | None  # union of kernels and graph replays
    gpu_complete: bool | None
    launch_coverage: float | None
    api_complete: bool | None
    api_coverage: float | None
    api_exposure: dict[str, Exposure]  # "cuda.launch" …: only the classes that occur
    window: Window | None = None  # set where a window names many ranges: one ledger per range
    host_parts: dict[str, int] | None = None

    @property
    def residual_ns(self) -> int:
        """Window minus the sum of the accounts: 0 on every run."""
        return self.wall_ns - sum(v or 0 for v in self.accounts.values())

    @property
    def busy_ratio(self) -> float | None:
        """Union of GPU operations ÷ window; None without a device."""
        return _ratio(self.gpu_busy_ns, self.wall_ns) if self.device is not None else None

    @property
    def kernel_active_ratio(self) -> float | None:
        """Union of kernels and graph replays ÷ window; None without a device."""
        return _ratio(self.kernel_active_ns, self.wall_ns) if self.device is not None else None


def _ratio(part: int | None, whole: int) -> float | None:
    return None if part is None or whole == 0 else part / whole
