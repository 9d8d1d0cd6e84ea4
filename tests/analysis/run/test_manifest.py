"""Promises of the run manifest: it survives a round trip, and whatever is wrong with a file is one sentence."""

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from wallsplit.errors import ManifestError
from wallsplit.run.manifest import (
    Arithmetic,
    Baseline,
    Capture,
    Cpu,
    Data,
    Epoch,
    Generator,
    Gpu,
    Load,
    ModelShape,
    NvmlFile,
    RunManifest,
    Steps,
    beside,
    matches,
    parse,
    read,
    to_json,
)

MINIMAL = {"schema_version": 1, "generator": {"name": "by-hand", "version": "0"}}
FULL = RunManifest(
    generator=Generator("wallsplit", "0.1.0"),
    workload="numpy",
    parameters={"batch": 32, "rate": 0.1, "order": "shuffled", "limit": None},
    seed=0,
    device="cpu",
    data=Data("fashion-mnist", "Debian's dataset-fashion-mnist", 48_000, 12_000),
    model=ModelShape(101_770, (784, 128, 10)),
    steps=Steps(1_500, 375),
    arithmetic=Arithmetic("2·B·in·out", 13_000_000, 6_500_000, 21_937_500_000, 100_480, 150_720_000),
    versions={"python": "3.11.2", "numpy": "2.4.6"},
    threads={"OPENBLAS": 2},
    settings={"keras_backend": "tensorflow", "jit_compile": False, "torch_matmul_precision": None},
    cpu=Cpu("A CPU", 1, 2, "avx2", True, 2_000_000_000, 64_000_000_000, "1 core × 32 FLOP/cycle × 2 GHz"),
    gpu=Gpu("Quadro RTX 5000", 48, 64, 1_815_000_000, 16 * 2**30),
    git_commit="0" * 40,
    wall_ns=3_000_000_000,
    load=Load(2_000_000_000, (0.5, 0.25, 0.0), 0.01, "performance"),
    preparation_ns={"start": 400_000_000, "imports": 700_000_000},
    peak_memory_bytes={"process": 2**30},
    energy_mj={"cpu_package": 45_000},
    epochs=(Epoch(900_000_000, 800_000_000, 0.5, 0.8, 0.45, 0.84), Epoch(850_000_000)),
    step_wall_ns=(500_000, 510_000),
    marks={"epoch": 2, "step": 3_000},
    results={"operations": [{"name": "matmul", "mean_ns": 162_000}]},
    capture=Capture("nsys", "2023.4.4", ("--trace=nvtx",), "a" * 64, "b" * 64, 0, 3_100_000_000, 3_002, 3_002),
    baseline=Baseline("sum of epochs", (1_700_000_000,), (1_750_000_000,)),
    nvml=NvmlFile("run.nvml.csv"),
)


def test_a_full_manifest_survives_writing_and_reading() -> None:
    assert parse(to_json(FULL)) == FULL


def test_writing_is_stable_and_starts_with_the_schema_version() -> None:
    text = to_json(FULL)
    assert to_json(parse(text)) == text
    assert next(iter(json.loads(text))) == "schema_version"


def test_a_version_and_a_generator_are_enough() -> None:
    manifest = parse(json.dumps(MINIMAL))
    assert manifest == RunManifest(Generator("by-hand", "0"))
    assert manifest.steps is None
    assert manifest.epochs == ()


def test_keys_of_a_later_minor_version_are_ignored() -> None:
    assert parse(json.dumps({**MINIMAL, "novelty": [1], "steps": {"train": 3, "test": 9}})).steps == Steps(3)


def test_a_loss_that_is_no_number_any_more_is_written_as_null() -> None:
    diverged = RunManifest(Generator("w", "0"), epochs=(Epoch(1, loss=float("nan"), accuracy=float("inf")),))
    assert parse(to_json(diverged)).epochs == (Epoch(1),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 2}, "schema_version 2 is newer than 1"),
        ({"schema_version": "1"}, "schema_version is '1', not 1"),
        ({"schema_version": True}, "schema_version is True, not 1"),
        ({"schema_version": None}, "schema_version is None, not 1"),
        ({"generator": None}, "generator is None, not an object"),
        ({"generator": {"name": "x"}}, "generator.version is missing"),
        ({"device": "tpu"}, "device is 'tpu', not 'cpu' or 'gpu'"),
        ({"steps": {"train": 1.5}}, "steps.train is 1.5, not a whole number"),
        ({"steps": {"train": True}}, "steps.train is True, not a whole number"),
        ({"steps": [1]}, "steps is [1], not an object"),
        ({"seed": 2**63}, "seed is 9223372036854775808, not a whole number of at most 64 bits"),
        ({"epochs": [{"wall_ns": 1}, {"wall_ns": "2"}]}, "epochs[1].wall_ns is '2', not a whole number"),
        ({"arithmetic": {"formula": "f", "flops_per_step": -1}}, "arithmetic.flops_per_step is -1, less than nothing"),
        ({"gpu": {"name": "g", "clock_hz": -1}}, "gpu.clock_hz is -1, less than nothing"),
        ({"epochs": [{"wall_ns": -1}]}, "epochs[0].wall_ns is -1, not a duration"),
        ({"epochs": [{"wall_ns": 1, "loss": "low"}]}, "epochs[0].loss is 'low', not a number"),
        ({"step_wall_ns": [1, -2]}, "step_wall_ns[1] is -2, not a duration"),
        ({"parameters": {"batch": [32]}}, "parameters.batch is [32], not text or a whole number or"),
        ({"parameters": {"a\nb": {}}}, "parameters.'a\\nb' is {}"),
        ({"versions": {"numpy": 2}}, "versions.numpy is 2, not text"),
        ({"command": "/home/somebody/train.py"}, "command is '/home/somebody/train.py', not a file name"),
        ({"nvml": {"file": "../../etc/passwd"}}, "nvml.file is '../../etc/passwd', not a file name"),
        ({"nvml": {"file": ".."}}, "nvml.file is '..', not a file name"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(json.dumps({**MINIMAL, **change}))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def _nested(depth: int) -> str:
    return json.dumps({**MINIMAL, "results": {"deep": 0}}).replace('"deep": 0', '"deep": ' + "[" * depth + "]" * depth)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe\x00",
        b"{",
        b"[" * 100_000,
        json.dumps({**MINIMAL, "seed": float("nan")}).encode(),
        json.dumps(MINIMAL).encode()[:-1] + b', "epochs": [{"wall_ns": 1, "loss": 1e999}]}',
        json.dumps(MINIMAL).encode()[:-1] + b', "seed": ' + b"9" * 5_000 + b"}",
        json.dumps({**MINIMAL, "workload": "\ud800"}).encode(),
        _nested(100).encode(),
    ],
)
def test_anything_else_is_one_sentence(text: bytes) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.run.json"
    with pytest.raises(ManifestError, match=r"x\.run\.json: cannot be read"):
        read(path)
    path.write_text("{}")
    with pytest.raises(ManifestError, match=r"x\.run\.json: not a run manifest, schema_version is missing"):
        read(path)


def test_a_file_too_large_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.run.json"
    path.write_text(json.dumps(MINIMAL))
    monkeypatch.setattr("wallsplit.run.manifest.SIZE_LIMIT_BYTES", 10)
    with pytest.raises(ManifestError, match="more than the 10 a run manifest may have"):
        read(path)


@pytest.mark.parametrize("trace", ["a.b.sqlite", "a.b.nsys-rep", "a.b_pqtdir", "a.b_arwdir"])
def test_every_form_of_a_trace_has_the_same_manifest(trace: str) -> None:
    assert beside(Path("traces") / trace) == Path("traces/a.b.run.json")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_manifest_matches_only_the_files_it_was_written_for(tmp_path: Path) -> None:
    report, export = tmp_path / "x.nsys-rep", tmp_path / "x.sqlite"
    report.write_bytes(b"report")
    export.write_bytes(b"export")
    capture = Capture("nsys", report_sha256=_digest(b"report"), export_sha256=_digest(b"export"))
    manifest = RunManifest(Generator("w", "0"), capture=capture)
    assert matches(manifest, report) is True
    assert matches(manifest, export) is True
    export.write_bytes(b"another export")
    assert matches(manifest, export) is False


def test_without_a_digest_nothing_is_claimed(tmp_path: Path) -> None:
    export = tmp_path / "x.sqlite"
    export.write_bytes(b"export")
    assert matches(RunManifest(Generator("w", "0")), export) is None
    assert matches(RunManifest(Generator("w", "0"), capture=Capture("nsys")), export) is None
    assert matches(FULL, tmp_path) is None


SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "docs" / "run-manifest.schema.json").read_text())
RECORDS = (
    RunManifest,
    Generator,
    Data,
    ModelShape,
    Steps,
    Arithmetic,
    Cpu,
    Gpu,
    Load,
    Epoch,
    Capture,
    Baseline,
    NvmlFile,
)


@pytest.mark.parametrize("record", RECORDS)
def test_the_published_schema_has_the_fields_of_the_code(record: Any) -> None:
    published = SCHEMA if record is RunManifest else SCHEMA["$defs"][record.__name__]
    assert set(published["properties"]) == {field.name for field in dataclasses.fields(record)}


@pytest.mark.parametrize("manifest", [FULL, RunManifest(Generator("w", "0"))])
def test_what_is_written_is_valid_by_the_published_schema(manifest: RunManifest) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(to_json(manifest)), SCHEMA)


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"generator": {"name": "x"}},
        {"device": "tpu"},
        {"steps": {"train": 1.5}},
        {"epochs": [{"wall_ns": -1}]},
        {"parameters": {"batch": [32]}},
    ],
)
def test_the_published_schema_refuses_what_reading_refuses(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**MINIMAL, **change}, SCHEMA)
    with pytest.raises(ManifestError):
        parse(json.dumps({**MINIMAL, **change}))


def test_the_page_about_manifests_lists_every_top_level_key_in_the_order_written() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "run-manifest.md").read_text()
    example = page.split("```")[1]
    keys = re.findall(r'^(?:{ |  )"(\w+)":', example, re.MULTILINE)
    assert keys == list(json.loads(to_json(FULL)))
