"""The run manifest: what was run and what the program measured about itself, kept beside its trace as `.run.json`.

docs/run-manifest.md is the contract; docs/run-manifest.schema.json says the same to a machine. Times are integers in
ns, sizes in bytes, ratios 0-1; None = not measured. A manifest holds no environment variable, host name, user name,
absolute path or argument of a user's own command.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Final, Literal, NoReturn

from wallsplit.errors import ManifestError
from wallsplit.frozen import dataclass
from wallsplit.run.decoding import DecodeError, Json, decode, encode

SCHEMA_VERSION: Final = 1
SIZE_LIMIT_BYTES = 32 * 2**20  # an epoch of a million steps is 10 MB; more is no manifest
CPU: Final = "cpu"
"""The device of a run that computes on the CPU, as it was asked to."""
_TRACE_SUFFIXES = (".sqlite", ".nsys-rep", ".qdrep", "_pqtdir", "_arwdir")
Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Generator:
    """The program that wrote the manifest."""

    name: str
    version: str


@dataclass(frozen=True)
class Data:
    """What the model was trained on."""

    source: str  # mnist, fashion-mnist, synthetic, iris, zipf …
    detail: str | None = None
    train_samples: int | None = None
    validation_samples: int | None = None


@dataclass(frozen=True)
class ModelShape:
    """Size of the trained model."""

    parameter_count: int
    layers: tuple[int, ...] | None = None  # widths, input first


@dataclass(frozen=True)
class Steps:
    """Steps per epoch: 48,000 samples at batch 32 are 1,500 training steps, 12,000 more are 375 validation steps."""

    train: int
    validation: int = 0


@dataclass(frozen=True)
class Arithmetic:
    """Modelled floating-point operations (a multiply-add counts as two) and the bytes of samples a step is fed."""

    formula: str
    flops_per_step: int | None = None
    flops_per_validation_step: int | None = None
    flops_per_epoch: int | None = None
    bytes_per_step: int | None = None
    bytes_per_epoch: int | None = None


@dataclass(frozen=True)
class Cpu:
    """The processor; peak_flops in operations per second, None where a factor of it could not be read."""

    model: str | None = None
    physical_cores: int | None = None
    logical_cores: int | None = None
    simd: str | None = None  # avx512, avx2, avx, sse2, neon
    fma: bool | None = None
    clock_hz: int | None = None
    peak_flops: int | None = None
    peak_source: str | None = None


@dataclass(frozen=True)
class Gpu:
    """The graphics processor, as NVML describes it."""

    name: str
    sm_count: int | None = None
    lanes_per_sm: int | None = None
    clock_hz: int | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Load:
    """How much of the machine the run had, and who else wanted it."""

    cpu_time_ns: int | None = None  # user and system time of the run's processes, of its children once they ended
    load_average: tuple[float, ...] = ()  # runnable tasks over 1, 5 and 15 min, when the run began
    steal_ratio: float | None = None  # of the time of all CPUs, what a hypervisor gave to other machines
    governor: str | None = None  # what sets the first CPU's clock: performance, powersave, schedutil …


@dataclass(frozen=True)
class Epoch:
    """One epoch by the program's own clock; losses are means per sample, accuracies ratios 0-1."""

    wall_ns: int
    train_wall_ns: int | None = None  # wall_ns without validation
    loss: float | None = None
    accuracy: float | None = None
    validation_loss: float | None = None
    validation_accuracy: float | None = None


@dataclass(frozen=True)
class Capture:
    """How the trace was made, and the SHA-256 of what was made."""

    tool: str
    version: str | None = None
    arguments: tuple[str, ...] = ()  # the profiler's flags; never the program's
    report_sha256: str | None = None
    export_sha256: str | None = None
    exit_code: int | None = None
    profiled_wall_ns: int | None = None
    nvtx_ranges_expected: int | None = None
    nvtx_ranges_seen: int | None = None


@dataclass(frozen=True)
class Baseline:
    """The same figure, in ns, from interleaved runs without and with the profiler; see perturbation.py."""

    figure: str  # what was compared: "sum of epochs", "whole run", "whole program"
    wall_ns: tuple[int, ...] = ()
    profiled_wall_ns: tuple[int, ...] = ()


@dataclass(frozen=True)
class NvmlFile:
    """The NVML samples taken during the run: the name of a file in the manifest's own folder."""

    file: str


@dataclass(frozen=True)
class RunManifest:
    """One run of one program."""

    generator: Generator
    schema_version: Literal[1] = SCHEMA_VERSION
    workload: str | None = None  # None: a user's own command
    command: str | None = None  # its basename; None: a built-in workload
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    seed: int | None = None
    device: Literal["cpu", "gpu"] | None = None
    data: Data | None = None
    model: ModelShape | None = None
    steps: Steps | None = None
    arithmetic: Arithmetic | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    threads: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Scalar] = field(default_factory=dict)  # compiler, backend, precision, determinism
    cpu: Cpu | None = None
    gpu: Gpu | None = None
    git_commit: str | None = None
    wall_ns: int | None = None  # the workload's run(), imports and data included
    preparation_ns: Mapping[str, int] = field(default_factory=dict)  # before the first epoch: start, imports, data …
    load: Load | None = None
    peak_memory_bytes: Mapping[str, int] = field(default_factory=dict)  # by who counted it
    energy_mj: Mapping[str, int] = field(default_factory=dict)  # of the whole run, by meter
    epochs: tuple[Epoch, ...] = ()
    step_wall_ns: tuple[int, ...] | None = None
    marks: Mapping[str, int] = field(default_factory=dict)  # NVTX ranges pushed, by name
    results: Mapping[str, object] = field(default_factory=dict)  # what only this workload measures
    capture: Capture | None = None
    baseline: Baseline | None = None
    nvml: NvmlFile | None = None


def read(path: Path) -> RunManifest:
    """Return the manifest in the file.

    Raises:
        ManifestError: the file cannot be read, is too large, is not JSON, is of another schema version, or holds a
            field of the wrong type.
    """
    try:
        size = path.stat().st_size
        if size > SIZE_LIMIT_BYTES:
            raise ManifestError(f"{path}: {size:,} bytes, more than the {SIZE_LIMIT_BYTES:,} a run manifest may have")
        text = path.read_bytes()
    except OSError as error:
        raise ManifestError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        return parse(text)
    except ManifestError as error:
        raise ManifestError(f"{path}: {error}") from error


def parse(text: str | bytes) -> RunManifest:
    """Return the manifest the JSON text describes.

    Raises:
        ManifestError: as for read().
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()  # refuses "\\ud800", which no output could be encoded with
    except (ValueError, RecursionError) as error:  # bad UTF-8, bad JSON, NaN, numbers of thousands of digits
        raise ManifestError(f"not a run manifest, not JSON ({error})") from error
    # No default on reading: the version is what tells a manifest from any other JSON.
    if not isinstance(value, dict) or "schema_version" not in value:
        raise ManifestError("not a run manifest, schema_version is missing")
    version = value["schema_version"]
    if type(version) is int and version > SCHEMA_VERSION:
        raise ManifestError(f"schema_version {version} is newer than {SCHEMA_VERSION}; update wallsplit to read it")
    try:
        manifest: RunManifest = decode(RunManifest, value)
        _check(manifest)
    except DecodeError as error:
        raise ManifestError(f"not a run manifest, {error}") from error
    return manifest


def to_value(manifest: RunManifest) -> dict[str, Json]:
    """Return the manifest as plain JSON values in field order, the top level complete, null where not measured."""
    value = {field.name: encode(getattr(manifest, field.name)) for field in fields(RunManifest)}
    return {"schema_version": value.pop("schema_version"), **value}


def to_json(manifest: RunManifest) -> str:
    """Return the manifest as JSON text in a stable order, one field a line."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in to_value(manifest).items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def beside(trace_path: Path) -> Path:
    """Return where the manifest of a trace lies: x.sqlite, x.nsys-rep, x_pqtdir and x_arwdir all have x.run.json."""
    name = trace_path.name
    for suffix in _TRACE_SUFFIXES:
        name = name.removesuffix(suffix)
    return trace_path.with_name(name + ".run.json")


def matches(manifest: RunManifest, trace_path: Path) -> bool | None:
    """Return whether the manifest was written for this file, by SHA-256; None where nothing can be compared."""
    if manifest.capture is None or not trace_path.is_file():
        return None
    is_report = trace_path.suffix == ".nsys-rep"
    expected = manifest.capture.report_sha256 if is_report else manifest.capture.export_sha256
    return None if expected is None else sha256(trace_path) == expected


def sha256(path: Path) -> str:
    """Return the SHA-256 of the file, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _check(manifest: RunManifest) -> None:
    """Raise DecodeError for what the types cannot say: nothing is negative, file names are bare names."""
    names = {"command": manifest.command, "nvml.file": manifest.nvml.file if manifest.nvml else None}
    for place, name in names.items():
        if name is not None and (not name or name in {".", ".."} or "/" in name or "\\" in name or "\0" in name):
            raise DecodeError(f"{place} is {name[:40]!r}, not a file name without a folder")
    durations = [("wall_ns", manifest.wall_ns)]
    durations += [(f"epochs[{i}].wall_ns", epoch.wall_ns) for i, epoch in enumerate(manifest.epochs)]
    durations += [(f"step_wall_ns[{i}]", ns) for i, ns in enumerate(manifest.step_wall_ns or ())]
    durations += [(f"preparation_ns.{name}", ns) for name, ns in manifest.preparation_ns.items()]
    for place, duration in durations:
        if duration is not None and duration < 0:
            raise DecodeError(f"{place} is {duration}, not a duration")
    for place, part in (
        ("arithmetic", manifest.arithmetic),
        ("cpu", manifest.cpu),
        ("gpu", manifest.gpu),
        ("load", manifest.load),
    ):
        for name, amount in vars(part).items() if part else ():
            if isinstance(amount, int) and amount < 0:
                raise DecodeError(f"{place}.{name} is {amount}, less than nothing")
