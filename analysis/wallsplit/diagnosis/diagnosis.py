"""What was found, as values: the scope it holds for, the findings and what each could win at most."""

from typing import Literal

from wallsplit.frozen import dataclass

ScopeName = Literal["steady steps", "core"]
PhaseName = Literal["once", "steady", "rest"]
PHASES_OF_RUN: tuple[PhaseName, ...] = ("once", "steady", "rest")


@dataclass(frozen=True)
class Scope:
    """What the findings speak of: the steady steps, or all between the first and the last GPU operation."""

    name: ScopeName
    start_ns: int
    end_ns: int
    causes: dict[str, int]
    """The ns of each cause in it; they sum to it."""

    @property
    def size_ns(self) -> int:
        """Length in ns."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Call:
    """Calls of one name and the ns they took together."""

    name: str
    count: int
    total_ns: int


@dataclass(frozen=True)
class FailedCall:
    """The commonest of the calls that failed."""

    call: str
    code: int
    count: int


@dataclass(frozen=True)
class LongCalls:
    """A few calls, each far longer than the others of its name, that hold most of a cause's time."""

    name: str
    count: int
    of_count: int
    """All calls of the name."""
    held_ns: int
    """What they hold of the cause's time in the scope."""


@dataclass(frozen=True)
class Finding:
    """One reason, and what removing it could win at most."""

    cause: str
    share_ratio: float
    """Of the scope; of what is paid once, of waits for the unseen and of other devices: of the window."""
    prize_upper_ns: int
    prize_upper_ratio: float
    """Of the window."""
    parts: dict[str, int] | None = None
    """Of `startup`: ns by cause."""
    longest_call: Call | None = None
    """Of `startup`: the calls outside the scope that took longest."""
    failed: FailedCall | None = None
    operations: int | None = None
    """Of `few_operations`: how many GPU operations there are."""
    long_calls: LongCalls | None = None
    """Where a few long calls hold most of the cause's time."""


@dataclass(frozen=True)
class PhaseOfRun:
    """A stretch of the recording: `once`, `steady` or `rest`, with its ledger."""

    name: PhaseName
    start_ns: int
    end_ns: int
    accounts: dict[str, int]


@dataclass(frozen=True)
class Diagnosis:
    """Why a ledger's time went where it went. None = nothing can be said."""

    framework: str | None
    primary: str
    """The first finding's cause, or why there is none: no_cuda, no_gpu_use, abstain."""
    in_scope: str | None = None
    """What matters in a longer run: the first finding that is about the scope itself."""
    scope: Scope | None = None
    causes: dict[str, int] | None = None
    """The ns of each cause in the window; they sum to it."""
    findings: tuple[Finding, ...] = ()
    evidence: str | None = None
    """Where there is no finding, what this rests on."""
    failed: FailedCall | None = None
    """Where there is no finding because a call failed: the commonest such call."""
    phases_of_run: tuple[PhaseOfRun, ...] | None = None
