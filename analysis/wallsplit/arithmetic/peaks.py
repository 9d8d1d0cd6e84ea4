"""The peak that applies to each ledger: given, from the trace's GPU rows, or from the manifest."""

from collections.abc import Sequence
from typing import Any

from wallsplit.arithmetic.work import LANES_PER_SM, Peak, cpu_peak, given_peak, gpu_peak, together
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Ledger
from wallsplit.run.manifest import RunManifest
from wallsplit.schema import Gpus

_GIVE_IT = "give it with --peak-tflops"


@dataclass(frozen=True)
class PeakOf:
    """A peak, or why there is none."""

    known: Peak | None = None
    unknown: str | None = None


@dataclass(frozen=True)
class Peaks:
    """Where peaks come from, for the ledgers of one trace."""

    gpus: Gpus
    ledgers: Sequence[Ledger]
    run: RunManifest | None = None
    given_flops_per_s: int | None = None

    def physical_gpus(self, ledger: Ledger) -> list[int]:
        """Return the physical GPUs that the ledger's process uses."""
        return sorted({x.gpu for x in self.ledgers if x.pid == ledger.pid and x.gpu is not None})

    def of(self, ledger: Ledger) -> PeakOf:
        """Return the peak of all processors the ledger's process computes on."""
        if self.given_flops_per_s is not None:
            return PeakOf(given_peak(self.given_flops_per_s))
        used = self.physical_gpus(ledger)
        if used:
            return self._of_gpus(used)
        # No GPU row: a run on a CPU, or CUDA calls whose work was not recorded.
        if ledger.accounts["cuda.launch"] is not None or (self.run is not None and self.run.device == "gpu"):
            peak = self._manifest_gpu()
            return PeakOf(peak) if peak else PeakOf(None, f"the trace does not describe the GPU; {_GIVE_IT}")
        peak = cpu_peak(self.run.cpu if self.run else None)
        return PeakOf(peak) if peak else PeakOf(None, f"no manifest states the processor's; {_GIVE_IT}")

    def _of_gpus(self, used: list[int]) -> PeakOf:
        rows = {row["gpu"]: row for row in self.gpus.to_dicts()}
        peaks = [peak for gpu in used if (peak := _described(rows.get(gpu, {})))]
        if len(peaks) == len(used):
            return PeakOf(together(peaks))
        if len(used) == 1 and (peak := self._manifest_gpu()):
            return PeakOf(peak)
        capability = next((row["compute_capability"] for row in rows.values()), None)
        why = "the trace does not state SMs, clock and compute capability of its GPU"
        if capability is not None and capability not in LANES_PER_SM:
            why = f"the fp32 lanes per SM of compute capability {capability} are not known"
        return PeakOf(None, f"{why}; {_GIVE_IT}")

    def _manifest_gpu(self) -> Peak | None:
        gpu = self.run.gpu if self.run else None
        return gpu_peak(gpu.sm_count, gpu.lanes_per_sm, gpu.clock_hz, "all from the manifest") if gpu else None


def _described(row: dict[str, Any]) -> Peak | None:
    capability = row.get("compute_capability")
    lanes = LANES_PER_SM.get(capability or "")
    return gpu_peak(row.get("sm_count"), lanes, row.get("clock_hz"), "SMs and clock: the trace", capability)
