"""What NVML (nvidia-smi's source) said during a run: samples kept as `<name>.nvml.csv`, and the energy they add up to.

The clock is UTC in ns since 1970. A trace's own clock starts at `Capture.start_utc_ns`, so `utc_ns - start_utc_ns` is a
sample's place in the trace.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import pairwise

from wallsplit.errors import ManifestError


@dataclass(frozen=True, slots=True)
class NvmlSample:
    """One reading of one GPU; None = the GPU does not tell."""

    utc_ns: int
    device: int
    gpu_percent: int | None  # share of the last sample period in which at least one kernel ran
    memory_percent: int | None  # share in which device memory was read or written
    memory_used_bytes: int | None
    power_mw: int | None


COLUMNS = tuple(column.name for column in fields(NvmlSample))


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
    utc_ns, device, gpu_percent, memory_percent, memory_used_bytes, power_mw = (int(c) if c else None for c in row)
    if utc_ns is None or device is None:
        raise ValueError("a row without a time or a device")
    return NvmlSample(utc_ns, device, gpu_percent, memory_percent, memory_used_bytes, power_mw)


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
    seen = [s for s in samples if s.gpu_percent is not None and start <= s.utc_ns < end]
    energies = [energy for ends in epochs_utc_ns if (energy := energy_joules(samples, *ends)) is not None]
    return NvmlSummary(
        sample_count=len(seen),
        device_count=len({s.device for s in seen}),
        gpu_ratio=mean_gpu_ratio(seen, start, end),
        energy_joules=energy_joules(samples, start, end),
        epoch_count=len(energies),
        epoch_energy_joules=sum(energies) / len(energies) if energies else None,
    )


def mean_gpu_ratio(samples: Iterable[NvmlSample], start_utc_ns: int, end_utc_ns: int) -> float | None:
    """Return the window's mean of what nvidia-smi shows as GPU utilisation, 0-1, all devices; None without a sample."""
    seen = [s.gpu_percent for s in samples if s.gpu_percent is not None and start_utc_ns <= s.utc_ns < end_utc_ns]
    return sum(seen) / len(seen) / 100 if seen else None


def energy_joules(samples: Iterable[NvmlSample], start_utc_ns: int, end_utc_ns: int) -> float | None:
    """Return the energy all sampled GPUs drew in the window, in joules; None where a device's samples do not span it.

    The trapezoidal rule over the readings of power, interpolated linearly at the window's two ends.
    """
    by_device: dict[int, list[tuple[int, int]]] = {}
    for sample in samples:
        if sample.power_mw is not None:
            by_device.setdefault(sample.device, []).append((sample.utc_ns, sample.power_mw))
    energies = [_device_energy(sorted(points), start_utc_ns, end_utc_ns) for points in by_device.values()]
    known = [energy for energy in energies if energy is not None]
    return sum(known) if known and len(known) == len(energies) else None


def _device_energy(points: Sequence[tuple[int, int]], start: int, end: int) -> float | None:
    if end <= start or points[0][0] > start or points[-1][0] < end:
        return None
    total = 0.0
    for (t0, p0), (t1, p1) in pairwise(points):
        low, high = max(t0, start), min(t1, end)
        if low < high:
            slope = (p1 - p0) / (t1 - t0)
            total += (high - low) * (p0 + slope * ((low + high) / 2 - t0))
    return total * 1e-12  # mW × ns
