"""Absurd manifests and NVML samples beside a sound trace."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from fuzz.absurd import NAMES
from fuzz.cases import Case
from fuzz.programs import UTC_NS, program, write_sqlite

NUMBERS = (
    *(0, 1, -1, 2, 100, 10**9, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63), 2**63, 10**400, 10**17),
    *(0.5, -0.5, 1e308, -1e308, 5e-324, 1e17),
)
CELLS = (*(str(number) for number in NUMBERS[:13]), "", "x", "１２", " 7 ", "1_0", "9" * 4_000, "nan", "1e9", "-0")
WHOLE_TEXTS = (
    "[" * 200_000,
    "{" * 1_000,
    "9" * 5_000,
    "nul",
    "",
    "\0" * 100,
    '{"schema_version":1,"workload":"\\ud800"}',
)
WINDOWS = ((), (), ("--window", "nvtx:step"), ("--window", "nvtx:data_loading"), ("--window", "cuda"))


def absurd_side_files(folder: Path, rng: Random) -> Case:
    """Return a sound trace beside which an absurd manifest and absurd samples lie."""
    tables = program(rng)
    steps = [row for row in tables["NVTX_EVENTS"] if str(row["text"]).startswith("step")]
    for row in steps[::2]:
        tables["NVTX_EVENTS"].append(row | {"text": "epoch"})
    tables["TARGET_INFO_SESSION_START_TIME"][0]["utcEpochNs"] = rng.choice(
        (UTC_NS, UTC_NS, UTC_NS, 0, -(2**63), 2**63 - 1)
    )
    write_sqlite(folder / "trace.sqlite", tables)
    manifest = _manifest()
    for _ in range(rng.choice((0, 1, 1, 2, 4, 8))):
        _damage(manifest, rng)
    text = json.dumps(manifest) if rng.random() > 0.05 else rng.choice(WHOLE_TEXTS)
    (folder / "trace.run.json").write_text(text)
    (folder / "trace.nvml.csv").write_text(_samples(rng))
    return Case(("trace.sqlite", *rng.choice(WINDOWS)), text[:200])


def _manifest() -> dict[str, Any]:
    epoch = {"wall_ns": 9_000, "train_wall_ns": 8_000, "loss": 0.5, "accuracy": 0.8, "validation_loss": 0.4}
    return {
        "schema_version": 1,
        "generator": {"name": "wallsplit", "version": "0.1.0"},
        "workload": "keras-gpu",
        "parameters": {"batch": 32, "rate": 0.1},
        "seed": 0,
        "device": "gpu",
        "data": {"source": "mnist", "detail": "d", "train_samples": 4_800, "validation_samples": 12},
        "model": {"parameter_count": 101_770, "layers": [784, 128, 10]},
        "steps": {"train": 10, "validation": 2},
        "arithmetic": {"formula": "f", "flops_per_step": 1_309, "flops_per_epoch": 22_075, "bytes_per_step": 100},
        "versions": {"python": "3", "tensorflow": "2"},
        "threads": {"openblas": 2},
        "cpu": {"model": "m", "physical_cores": 2, "simd": "avx2", "fma": True, "clock_hz": 2_100_000_000},
        "gpu": {"name": "g", "sm_count": 108, "lanes_per_sm": 64, "clock_hz": 1_410_000_000, "memory_bytes": 1},
        "git_commit": "abc",
        "wall_ns": 20_000,
        "epochs": [epoch],
        "step_wall_ns": [900, 900],
        "marks": {"epoch": 2, "step": 20},
        "results": {"operations": [{"name": "n", "phase": "p", "mean_ns": 1}]},
        "capture": {"tool": "nsys", "version": "2023", "arguments": ["--trace=x"], "profiled_wall_ns": 20_000},
        "baseline": {"figure": "whole run", "wall_ns": [100, 101, 99], "profiled_wall_ns": [120, 121, 119]},
        "nvml": {"file": "trace.nvml.csv"},
    }


def _places(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if at:
        yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*at, key))


def _damage(manifest: dict[str, Any], rng: Random) -> None:
    *way, last = rng.choice(list(_places(manifest)))
    holder: Any = manifest
    for key in way:
        holder = holder[key]
    match holder[last]:
        case str() if rng.random() < 0.8:
            holder[last] = rng.choice(NAMES)
        case int() | float() if rng.random() < 0.9:
            holder[last] = rng.choice(NUMBERS)
        case list() as items if rng.random() < 0.7:
            holder[last] = rng.choice(([], items * 300, items[:1]))
        case dict() as items if items and rng.random() < 0.5:
            items[rng.choice(NAMES)] = next(iter(items.values()))
        case _:
            holder[last] = rng.choice((None, [], {}, "x", 5, True))


def _samples(rng: Random) -> str:
    lines = ["utc_ns,device,gpu_percent,memory_percent,memory_used_bytes,power_mw"]
    for number in range(rng.choice((0, 1, 2, 50))):
        row = [str(value) for value in (UTC_NS - 1_000 + number * 10_000, 0, 97, 5, 1_000, 30_000)]
        if rng.random() < 0.1:
            row[rng.randrange(6)] = rng.choice(CELLS)
        lines.append(",".join(row))
    return "\n".join(lines) + "\n"
