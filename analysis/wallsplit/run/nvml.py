"""What NVML (nvidia-smi's source) said during a run: samples kept as `<name>.nvml.csv`, and the energy they add up to.

The clock is UTC in ns since 1970. A trace's own clock starts at `Capture.start_utc_ns`, so `utc_ns - start_utc_ns` is a
sample's place in the trace.
"""

import csv
import dataclasses
import io
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from itertools import accumulate, pairwise

from wallsplit.errors import ManifestError
from wallsplit.frozen import dataclass
from wallsplit.text import shorten


@dataclasses.dataclass(frozen=True, slots=True)
class NvmlSample:
    """One reading of one GPU; None = the GPU does not tell."""

    utc_ns: int
    device: int
    gpu_percent: int | None  # share of the last sample period in which at least one kernel ran
    memory_percent: int | None  # share in which device memory was read or written
    memory_used_bytes: int | None
    power_mw: int | None


COLUMNS = tuple(column.name for column in fields(NvmlSample))
MOST = {
    "utc_ns": 2**63 - 1,
    "device": 2**31 - 1,
    "gpu_percent": 100,
    "memory_percent": 100,
    "memory_used_bytes": 2**63 - 1,
    "power_mw": 10**9,  # a megawatt
}
"""The largest value of each column; none is below zero."""
_DIGITS = re.compile(r"[0-9]{1,19}")


def to_csv(samples: Iterable[NvmlSample]) -> str:
    """Return the samples as CSV text with a header line; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(astuple(sample) for sample in samples)
    return text.getvalue()


def from_csv(text: str) -> tuple[NvmlSample, ...]:
    """Return the samples in the CSV text.

    Raises:
        ManifestError: another header, or a cell that is no integer.
    """
    try:
        header, *rows = list(csv.reader(io.StringIO(text))) or [[]]
        samples = tuple(_sample(row) for row in rows)
    except (ValueError, csv.Error) as error:
        raise ManifestError(f"no NVML samples ({error}); profile again") from error
    if tuple(header) != COLUMNS:
        raise ManifestError(f"no NVML samples (the first line is not {','.join(COLUMNS)}); profile again")
    return samples


def _sample(row: Sequence[str]) -> NvmlSample:
    utc_ns, device, gpu_percent, memory_percent, memory_used_bytes, power_mw = (
        _cell(name, cell) for name, cell in zip(COLUMNS, row, strict=True)
    )
    if utc_ns is None or device is None:
        raise ValueError("a row without a time or a device")
    return NvmlSample(utc_ns, device, gpu_percent, memory_percent, memory_used_bytes, power_mw)


def _cell(name: str, cell: str) -> int | None:
    if not cell:
        return None
    value = int(cell) if _DIGITS.fullmatch(cell) else -1
    if not 0 <= value <= MOST[name]:
        raise ValueError(f"{name} is {shorten(repr(cell), 40)}, not a whole number from 0 to {MOST[name]:,}")
    return value


@dataclass(frozen=True)
class NvmlSummary:
    """What nvidia-smi would have said over the window; None = no sample, or samples that do not span it."""

    sample_count: int  # readings of GPU utilisation in the window
    device_count: int  # GPUs they are of
    gpu_ratio: float | None
    energy_joules: float | None
    epoch_count: int
    epoch_energy_joules: float | None  # mean over the epochs


def summary(
    samples: Sequence[NvmlSample], window_utc_ns: tuple[int, int], epochs_utc_ns: Sequence[tuple[int, int]] = ()
) -> NvmlSummary:
    """Return the samples' mean utilisation and energy over a window, and the energy of the mean epoch, in joules."""
    start, end = window_utc_ns
    whole, *of_epochs = energies_joules(samples, [window_utc_ns, *epochs_utc_ns])
    known = [energy for energy in of_epochs if energy is not None]
    seen = [s for s in samples if s.gpu_percent is not None and start <= s.utc_ns < end]
    return NvmlSummary(
        sample_count=len(seen),
        device_count=len({s.device for s in seen}),
        gpu_ratio=mean_gpu_ratio(seen, start, end),
        energy_joules=whole,
        epoch_count=len(known),
        epoch_energy_joules=sum(known) / len(known) if known else None,
    )


def mean_gpu_ratio(samples: Iterable[NvmlSample], start_utc_ns: int, end_utc_ns: int) -> float | None:
    """Return the window's mean of what nvidia-smi shows as GPU utilisation, 0-1, all devices; None without a sample."""
    seen = [s.gpu_percent for s in samples if s.gpu_percent is not None and start_utc_ns <= s.utc_ns < end_utc_ns]
    return sum(seen) / len(seen) / 100 if seen else None


def energy_joules(samples: Iterable[NvmlSample], start_utc_ns: int, end_utc_ns: int) -> float | None:
    """Return the energy all sampled GPUs drew in the window, in joules; None where a device's samples do not span it.

    The trapezoidal rule over the readings of power, interpolated linearly at the window's two ends.
    """
    return energies_joules(samples, [(start_utc_ns, end_utc_ns)])[0]


def energies_joules(samples: Iterable[NvmlSample], windows_utc_ns: Sequence[tuple[int, int]]) -> list[float | None]:
    """Return the energy of each of several windows, as `energy_joules` does: a binary search in each of them."""
    by_device: dict[int, list[tuple[int, int]]] = {}
    for sample in samples:
        if sample.power_mw is not None:
            by_device.setdefault(sample.device, []).append((sample.utc_ns, sample.power_mw))
    curves = [_Power.of(points) for points in by_device.values()]
    found = []
    for window in windows_utc_ns:
        energies = [energy for curve in curves if (energy := curve.joules(*window)) is not None]
        found.append(sum(energies) if energies and len(energies) == len(curves) else None)
    return found


@dataclass(frozen=True)
class _Power:
    """The readings of one device's power, by time, and twice the energy before each, in mW × ns: exact integers."""

    times: Sequence[int]
    readings: Sequence[int]
    doubled: Sequence[int]

    @classmethod
    def of(cls, points: Iterable[tuple[int, int]]) -> "_Power":
        in_turn = sorted(points)
        steps = ((t1 - t0) * (p0 + p1) for (t0, p0), (t1, p1) in pairwise(in_turn))
        times, readings = zip(*in_turn, strict=True)
        return cls(times, readings, [*accumulate(steps, initial=0)])

    def joules(self, start: int, end: int) -> float | None:
        """Return the energy from `start` to `end`; None where the readings do not span it."""
        if end <= start or self.times[0] > start or self.times[-1] < end:
            return None
        (first, before), (last, within) = self._until(start), self._until(end)
        return ((self.doubled[last] - self.doubled[first]) / 2 + within - before) * 1e-12

    def _until(self, time: int) -> tuple[int, float]:
        """Return the last reading at or before a time, and the energy from it to the time, in mW × ns."""
        at = bisect_right(self.times, time) - 1
        elapsed, reading = time - self.times[at], self.readings[at]
        if not elapsed:
            return at, 0.0
        slope = (self.readings[at + 1] - reading) / (self.times[at + 1] - self.times[at])
        return at, elapsed * (reading + slope * elapsed / 2)
