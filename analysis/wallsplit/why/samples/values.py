"""What CPU samples say, as values: estimates beside the ledger, never part of its sum. None = not measured.

Shares carry six digits, which is more than any of them deserves.
"""

from dataclasses import asdict
from typing import Any

from wallsplit.frozen import dataclass
from wallsplit.run.decoding import decode


@dataclass(frozen=True)
class CpuSampling:
    """How a trace's samples were taken (traces[].cpu_sampling)."""

    period_ns: int | None
    period_source: str | None
    trigger: str | None
    weight: str | None  # what a sample stands for
    backtrace_every: int | None  # one sample in so many has callers
    capture_sample_count: int
    kernel_sampled: bool  # else system calls and page faults are invisible to sampling
    scheduling: bool  # the scheduler's events were recorded


@dataclass(frozen=True)
class ClassShare:
    """One class among the samples of a scope."""

    sample_class: str
    count: int
    share: float  # by weight
    low: float  # ends of the 95 % interval
    high: float
    cpu_ns: int | None
    design_effect: float | None  # above 1: clustered in time
    groups: dict[str, int]
    callers: dict[str, int]  # of vague classes: the class that called, counted where callers were recorded


@dataclass(frozen=True)
class ArithmeticShare:
    """The share of arithmetic, between what is surely arithmetic and what may be."""

    at_least: float  # low end for named arithmetic
    named: float
    with_unnamed: float  # and code that does not say what it is
    at_most: float  # its high end


@dataclass(frozen=True)
class Summary:
    """The samples of a scope."""

    sample_count: int
    effective_count: float
    enough: bool  # for shares; below, people see counts only
    cpu_ns: int | None
    classes: tuple[ClassShare, ...]  # the largest first; a class without a sample is not among them
    absent_below: float | None  # what "no sample of that class" excludes
    arithmetic: ArithmeticShare | None


@dataclass(frozen=True)
class Scheduling:
    """The main thread on and off the CPU, in host instants."""

    on_cpu_ns: int
    off_cpu_ns: int
    off_cpu_in_os_call_ns: int | None  # it waits or sleeps
    off_cpu_elsewhere_ns: int | None  # preempted, a page fault, or a call that is not traced
    unknown_ns: int  # before the thread's first event
    event_count: int
    unsampled_ns: int | None  # on the CPU and not in samples: kernel time and lost samples
    unsampled_resolution_ns: int | None


@dataclass(frozen=True)
class Meanwhile(Summary):
    """What other threads of the process executed while the main thread was off the CPU: simultaneity, no proof."""

    others_on_cpu_ns: int
    nobody_on_cpu_ns: int


@dataclass(frozen=True)
class MainSummary(Summary):
    """The samples of the main thread."""

    scheduling: Scheduling | None
    meanwhile: Meanwhile | None


@dataclass(frozen=True)
class Wall:
    """The host instants, put together of estimates; they add up to them, within 1 ns a class."""

    main: dict[str, int]  # by class
    unsampled_ns: int
    meanwhile: dict[str, int]  # the main thread off the CPU: what others executed, by class
    nobody_on_cpu_ns: int
    unknown_ns: int


@dataclass(frozen=True)
class Phase:
    """The host instants in which a range is the main thread's innermost."""

    range: str
    host_ns: int
    instances: int  # stretches of the whole recording in which it is
    main: Summary
    others_count: int  # samples of other threads meanwhile
    on_cpu_ns: int | None


@dataclass(frozen=True)
class FunctionCount:
    """A function the main thread was seen in."""

    module: str | None  # base name of the file
    symbol: str | None
    sample_class: str
    count: int
    share: float


@dataclass(frozen=True)
class MainThread:
    """The thread that the headline is about."""

    tid: int | None
    name: str | None


@dataclass(frozen=True)
class HostSamples:
    """What the CPU executed in the host instants of one ledger (ledgers[].host_samples)."""

    host_ns: int
    main_thread: MainThread
    driving_threads: int
    main: MainSummary
    other_driving: Summary
    not_driving: Summary
    unresolved_count: int  # of the main thread's samples, those without a function's name
    chain_count: int  # and those with callers
    wall: Wall | None
    phases: tuple[Phase, ...]
    accounts: dict[str, dict[str, int]]  # by account, the main thread's samples in the whole window by class
    functions: tuple[FunctionCount, ...]
    warnings: tuple[str, ...]


def to_value(samples: HostSamples) -> dict[str, Any]:
    """Return the document's form of it: docs/report.schema.json, ledgers[].host_samples."""
    return asdict(samples, dict_factory=_object)


def from_value(value: object) -> HostSamples:
    """Return what `to_value` made the document's form of.

    Raises:
        DecodeError: it is not of that form.
    """
    samples: HostSamples = decode(HostSamples, _renamed(value), "host_samples")
    return samples


def _renamed(value: object) -> object:
    if isinstance(value, dict):
        return {"sample_class" if key == "class" else key: _renamed(item) for key, item in value.items()}
    return [_renamed(item) for item in value] if isinstance(value, list) else value


_LEFT_OUT = frozenset({"wall", "arithmetic", "scheduling", "meanwhile", "on_cpu_ns"})
"""Objects and numbers that are absent, not null, where they were not measured."""


def _object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {
        "class" if key == "sample_class" else key: value
        for key, value in fields
        if value is not None or key not in _LEFT_OUT
    }
