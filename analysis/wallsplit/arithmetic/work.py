"""Arithmetic against overhead: what a processor could do at its peak, and what that leaves of the wall time.

Three figures that must not be mixed up. *Modelled*: FLOPs of the program ÷ peak, a lower bound of the time arithmetic
takes. *Measured*: time in which kernels ran, an upper bound of it. *Derived*: overhead, wall − arithmetic, hence known
only as the interval those two give.
"""

from collections.abc import Sequence
from typing import Final, Literal

from wallsplit import units
from wallsplit.frozen import dataclass
from wallsplit.run.manifest import Cpu

# fp32 operations per cycle and SM by compute capability (a multiply-add is one): CUDA C++ Programming Guide,
# "Throughput of Native Arithmetic Instructions", row "32-bit floating-point add, multiply, multiply-add".
LANES_PER_SM: Final = {
    **dict.fromkeys(("5.0", "5.2", "5.3", "6.1", "6.2"), 128),
    **dict.fromkeys(("6.0", "7.0", "7.2", "7.5", "8.0"), 64),
    **dict.fromkeys(("8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "12.0", "12.1"), 128),
}
_GUIDE = "lanes: CUDA C++ Programming Guide for compute capability"

Scope = Literal["window", "epoch", "step", "validation_step"]


@dataclass(frozen=True)
class Peak:
    """Peak FLOP/s of all processors of a ledger's process, and in words where the figure comes from."""

    flops_per_s: int
    source: str


@dataclass(frozen=True)
class Work:
    """Wall time and arithmetic, in ns, of one window, or of the mean epoch or step in it.

    modelled_ns is FLOPs ÷ peak; measured_ns is the time a kernel ran, measured_at_most_ns adds graph replays recorded
    as a whole. None = not known, or not measured.
    """

    per: Scope
    count: int
    wall_ns: int
    flops: int | None = None
    modelled_ns: int | None = None
    measured_ns: int | None = None
    measured_at_most_ns: int | None = None
    measured_is_whole: bool = True
    """False: GPU work is missing in the trace, so measured times are lower bounds."""

    @property
    def overhead_at_least_ns(self) -> int | None:
        """Wall − arithmetic if all GPU work measured was arithmetic; None where that was not, or not wholly, seen."""
        if self.measured_at_most_ns is None or not self.measured_is_whole:
            return None
        return max(0, self.wall_ns - max(self.measured_at_most_ns, self.modelled_ns or 0))

    @property
    def overhead_at_most_ns(self) -> int | None:
        """Wall − arithmetic if the processor did its arithmetic at peak; None where FLOPs or peak are not known.

        None, too, for a step whose modelled time exceeds its wall: the host went on before the device was done.
        """
        if self.modelled_ns is None or self.modelled_ns > self.wall_ns:
            return None
        return self.wall_ns - self.modelled_ns

    @property
    def flop_utilisation(self) -> float | None:
        """FLOPs ÷ (peak × wall time), 0–1; None as for overhead_at_most_ns."""
        if self.modelled_ns is None or self.modelled_ns > self.wall_ns or not self.wall_ns:
            return None
        return self.modelled_ns / self.wall_ns


@dataclass(frozen=True)
class LedgerArithmetic:
    """Arithmetic against overhead of one ledger."""

    pid: int
    device: int | None
    counted: str
    """In words: how the FLOPs of the window were counted, or why they are not known."""
    formula: str | None
    """How the manifest reckons FLOPs; None where they were given."""
    peak: Peak | None
    no_peak: str | None
    """Why the peak is not known."""
    works: tuple[Work, ...]
    """The window first, then the mean epoch and steps where there are any."""


def gpu_peak(
    sm_count: int | None, lanes_per_sm: int | None, clock_hz: int | None, source: str, capability: str | None = None
) -> Peak | None:
    """Return the fp32 peak, SMs × lanes per SM × 2 × clock (an FMA is two operations); None without all factors.

    `source` says where SMs and clock come from. Tensor cores are not counted: they do other arithmetic.
    """
    if not sm_count or not lanes_per_sm or not clock_hz or min(sm_count, lanes_per_sm, clock_hz) < 0:
        return None
    origin = f"{source}; {_GUIDE} {capability}" if capability else source
    return Peak(
        sm_count * lanes_per_sm * 2 * clock_hz,
        f"{sm_count} SMs × {lanes_per_sm} fp32 lanes × 2 × {clock_hz / 1e9:.3f} GHz ({origin})",
    )


def cpu_peak(cpu: Cpu | None) -> Peak | None:
    """Return the peak the manifest states for the processor: cores × SIMD lanes × FMA units × 2 × clock."""
    if cpu is None or not cpu.peak_flops or cpu.peak_flops < 0:
        return None
    return Peak(cpu.peak_flops, cpu.peak_source or "the manifest, which does not say how it was reckoned")


def given_peak(flops_per_s: int) -> Peak:
    """Return the peak the user states."""
    return Peak(flops_per_s, "given with --peak-tflops")


def together(peaks: Sequence[Peak]) -> Peak | None:
    """Return the peak of several processors at work at once; None without any."""
    if len(peaks) < 2:
        return peaks[0] if peaks else None
    distinct = dict.fromkeys(peak.source for peak in peaks)
    return Peak(sum(peak.flops_per_s for peak in peaks), f"{len(peaks)} GPUs: {'; '.join(distinct)}")


def modelled_ns(flops: int, peak: Peak) -> int:
    """Return FLOPs ÷ peak in ns, rounded: 2·32·784·128 FLOP at 11.06 TFLOP/s take 581 ns."""
    return (2 * flops * 10**9 + peak.flops_per_s) // (2 * peak.flops_per_s)


def impossible(work: Work, peak: Peak, *, within_gpu_work: bool) -> str | None:
    """Return, in one clause with the likely cause, why this is more than 100 % of peak; None where it is not.

    `within_gpu_work`: the arithmetic must fit into the time the one GPU's kernels ran, not only into the wall time.
    """
    if work.modelled_ns is None or work.flops is None:
        return None
    limit, what = work.wall_ns, "wall time"
    if within_gpu_work and work.measured_at_most_ns is not None and work.measured_is_whole:
        limit, what = work.measured_at_most_ns, "measured GPU work"
    if work.modelled_ns <= limit:
        return None
    share = f"{units.fine_ratio(work.modelled_ns / limit)} of" if limit else "above"
    return (
        f"{units.flops(work.flops)} in {units.ns(limit)} of {what} are {share} the peak of "
        f"{units.flops(peak.flops_per_s)}/s, which cannot be: {_CAUSES}"
    )


_CAUSES = (
    "they may belong to more than this window, or count a multiply-add more than twice; or the processor ran above "
    "its nominal clock, or on units that the fp32 peak leaves out (tensor cores: TF32, fp16); check the FLOPs, or "
    "give the peak that applies with --peak-tflops"
)
