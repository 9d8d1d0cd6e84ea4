"""What lies beside a trace: the manifest of the run it records, and the NVML samples taken meanwhile."""

from collections.abc import Iterator
from pathlib import Path

from wallsplit.errors import ManifestError
from wallsplit.frozen import dataclass
from wallsplit.note import Note
from wallsplit.run import load, manifest
from wallsplit.run.manifest import RunManifest
from wallsplit.run.nvml import NvmlSample, from_csv
from wallsplit.run.perturbation import Perturbation, perturbation
from wallsplit.text import for_people
from wallsplit.units import fine_ratio

NVML_LIMIT_BYTES = 256 * 2**20  # a week of samples of eight GPUs


@dataclass(frozen=True)
class RecordedRun:
    """The run a trace records, as far as it is known; what had to be ignored is in the notes."""

    manifest: RunManifest | None = None
    samples: tuple[NvmlSample, ...] = ()
    perturbation: Perturbation | None = None
    notes: tuple[Note, ...] = ()


def recorded_run(trace: Path) -> RecordedRun:
    """Return the run recorded in a trace, `trace` being the export or report that the user named.

    A manifest that is malformed, or was written for another file, is ignored with a note; so are its NVML samples.
    """
    path = manifest.beside(trace)
    name = for_people(path.name)
    try:
        if not path.is_file():
            return RecordedRun()
        found = manifest.read(path)
        belongs = manifest.matches(found, trace)
    except ManifestError as error:
        reason = str(error).removeprefix(f"{path}: ")
        return RecordedRun(
            notes=(Note("manifest_ignored", "warning", f"{name} beside the trace is ignored: {reason}."),)
        )
    except OSError as error:
        return RecordedRun(
            notes=(Note("manifest_ignored", "warning", f"{name} beside the trace is ignored: {error.strerror}."),)
        )
    if belongs is False:
        text = (
            f"{name} beside the trace is ignored: it was written for another file (the SHA-256 it states is not this "
            "one's). Analyse the file that was profiled with it, or profile again."
        )
        return RecordedRun(notes=(Note("manifest_ignored", "warning", text),))
    samples, sample_notes = _samples(found, path)
    slowdown = perturbation(found.baseline) if found.baseline else None
    notes = (*_unproven(name, proven=belongs), *sample_notes, *_perturbed(found, slowdown), *_busy(found))
    return RecordedRun(found, samples, slowdown, notes)


def _unproven(name: str, *, proven: bool | None) -> Iterator[Note]:
    if not proven:
        yield Note(
            "manifest_unproven",
            "info",
            f"{name} is taken to describe this trace because it lies beside it; there is no SHA-256 to compare.",
        )


def _samples(found: RunManifest, path: Path) -> tuple[tuple[NvmlSample, ...], tuple[Note, ...]]:
    if found.nvml is None:
        return (), ()
    file = path.with_name(found.nvml.file)
    name = for_people(file.name)
    try:
        if not file.is_file():
            return (), (
                Note("samples_missing", "info", f"{name}, the NVML samples of this run, is not beside the trace."),
            )
        if file.stat().st_size > NVML_LIMIT_BYTES:
            return (), (
                Note("samples_ignored", "warning", f"{name} is ignored: it has more than {NVML_LIMIT_BYTES:,} bytes."),
            )
        return from_csv(file.read_text(encoding="utf-8")), ()
    except ManifestError as error:
        return (), (Note("samples_ignored", "warning", f"{name} is ignored: {error}."),)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        return (), (Note("samples_ignored", "warning", f"{name} is ignored: {reason}."),)


def _perturbed(found: RunManifest, result: Perturbation | None) -> Iterator[Note]:
    if result is None or found.baseline is None:
        return
    yield Note(
        "perturbation", "warning" if result.verdict == "perturbed" else "info", in_words(result, found.baseline.figure)
    )


def _busy(found: RunManifest) -> Iterator[Note]:
    cores = load.shared_cores(found)
    if cores is not None:
        text = load.in_words(cores)
        yield Note("busy_machine", "warning", f"{text[0].upper()}{text[1:]}.")


def in_words(result: Perturbation, figure: str) -> str:
    """Return whether profiling changed what it measured, as a sentence; `figure` is what was compared."""
    ratios = result.slowdown_ratio, result.lowest_ratio, result.highest_ratio
    if ratios[0] is None or ratios[1] is None or ratios[2] is None:
        return f"Whether profiling slowed the run cannot be told: {result.reason}."
    slower = ratios[0] >= 0
    changed = f"{'slower' if slower else 'faster'} by {fine_ratio(abs(ratios[0]))}"
    spread = f", spread {fine_ratio(ratios[1])} to {fine_ratio(ratios[2])}" if ratios[1] != ratios[2] else ""
    told = "whether through the profiler cannot be told" if result.verdict == "cannot tell" else result.verdict
    return f"The profiled run was {changed} ({for_people(figure, 40)}{spread}); {told}: {result.reason}."
