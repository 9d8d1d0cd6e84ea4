"""A scrubbed trace: it tells the same, and nothing of what was private is in its bytes."""

import json
import re
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

from builders import TraceBuilder, global_id
from recorded_runs import TRAINING
from shared_traces import TRACES, needs_shared_traces
from wallsplit.errors import ExportError
from wallsplit.export.renaming import Renaming
from wallsplit.export.scrub import scrub
from wallsplit.export.secrets import Secrets, occurring
from wallsplit.ledger.phases import phase_of
from wallsplit.model import Model, load
from wallsplit.pipeline import analyze
from wallsplit.report.json import document
from wallsplit.run.manifest import Capture, NvmlFile, beside, read, sha256, to_json
from wallsplit.run.nvml import NvmlSample, to_csv
from wallsplit.trace import Trace, shareable

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs" / "sharing.schema.json").read_text(encoding="utf-8"))
NOBODY = Renaming(Secrets(frozenset(), frozenset()), b"key", hash_kernels=True, hash_ranges=True)
PLANTED = (
    "zqalice",
    "zqbox",
    "zqtoken77",
    "zqpw1",
    "zqdir",
    "zqproj",
    "zqmail",
    "zqkey9",
    "zqvenv",
    "zqnote",
    "zqfreed",
)


def with_secrets(path: Path) -> Path:
    """Return a trace with a private text in every place there is for one; each of PLANTED is in its bytes."""
    build = TraceBuilder(path).api("cudaLaunchKernel", 0, 10, corr=1)
    build.kernel(12, 90, corr=1, name="lambda at /home/zqalice/zqdir/k.cu", mangledName=build.string("_Zzqdir"))
    build.range("load /data/zqproj/x.bin for zqalice on zqbox, mail zqmail@corp.example, SECRET_KEY=zqkey9", 20, 80)
    build.range("step 1", 0, 50).range("step 2", 50, 100).range("step 3", 100, 150)
    build.process("/home/zqalice/zqvenv/bin/python3").thread_name("zqalice-worker")
    environment = "USER=zqalice\0HOSTNAME=zqbox.example.net\0API_TOKEN=zqtoken77\0DB=postgres://u:zqpw1@10.0.0.9/x"
    build.string(environment)
    build.add("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE", value='API_TOKEN="zqtoken77"')
    build.add("TARGET_INFO_SYSTEM_ENV", name="Hostname", value="zqbox.example.net")
    build.add("MY_NOTES", note="call zqnote")
    for _ in range(200):
        build.add("GONE", note="zqfreed" * 50)
    build.write()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA secure_delete = OFF")
        db.execute("DROP TABLE GONE")
        db.commit()
    return path


def left_of(planted: Sequence[str], path: Path) -> set[str]:
    content = path.read_bytes()
    return {secret for secret in planted for code in ("utf-8", "utf-16-le") if secret.encode(code) in content}


def texts_of(model: Model) -> set[str]:
    return set(model.names.texts)


@pytest.mark.parametrize("hashed", [False, True])
def test_nothing_private_is_left_in_the_bytes(tmp_path: Path, hashed: bool) -> None:
    trace = with_secrets(tmp_path / "in.sqlite")
    assert left_of(PLANTED, trace) == set(PLANTED)
    done = scrub(trace, tmp_path / "out.sqlite", hash_kernels=hashed, hash_ranges=hashed)
    assert left_of(PLANTED, tmp_path / "out.sqlite") == set()
    assert done.secrets >= len({"zqalice", "zqbox", "zqtoken77", "zqkey9"})


def test_what_is_left_of_names_still_says_what_they_are(tmp_path: Path) -> None:
    scrub(with_secrets(tmp_path / "in.sqlite"), tmp_path / "out.sqlite")
    texts = texts_of(load(Trace.open(tmp_path / "out.sqlite")))
    assert {"cudaLaunchKernel", "lambda at .../k.cu", "step 1", "step 2", "step 3"} <= texts


def test_a_range_keeps_its_phase_though_only_its_folder_told_it() -> None:
    renaming = Renaming(Secrets(frozenset(), frozenset()), b"key")
    (new,) = renaming.renamed("range", pl.Series(["open /home/a/dataset/7.bin"]))
    assert new == "dataset open .../7.bin"
    assert phase_of(new) == phase_of("open /home/a/dataset/7.bin") == "data"


def test_two_names_never_become_one() -> None:
    renaming = Renaming(Secrets(frozenset(), frozenset()), b"key")
    new = renaming.renamed("range", pl.Series(["/a/b/x", "/c/d/x", "/a/b/x", None]))
    assert new.to_list() == [".../x", ".../x′", ".../x", None]


def test_a_hashed_range_keeps_its_phase_its_numbers_and_that_it_is_a_step() -> None:
    names = ["Corp shard reader 3", "Corp shard reader 4", "ourTrainStep 7/10", "aten::corp, seq = 3, op_id = 77"]
    new = NOBODY.renamed("range", pl.Series(names)).to_list()
    assert [phase_of(text) for text in new] == [phase_of(text) for text in names]
    assert new[0][:-1] == new[1][:-1]
    assert new[0].startswith("reader range_")
    assert new[2].endswith(" 7/10")
    assert new[3].endswith(", seq = 3, op_id = 77")
    assert not any("orp" in text or "shard" in text or "our" in text for text in new)


@pytest.mark.parametrize("name", ["step", "epoch", "validation_step", "Step 12", "forward", "NCCL"])
def test_words_that_everyone_uses_for_phases_and_steps_stay(name: str) -> None:
    assert NOBODY.renamed("range", pl.Series([name])).to_list() == [name]


def test_a_hashed_kernel_tells_only_whether_it_communicates() -> None:
    new = NOBODY.renamed("short_kernel", pl.Series(["ncclDevKernel_AllReduce", "corp_gemm", "deep_ep::dispatch"]))
    assert [text.split("kernel_")[0] for text in new] == ["nccl::", "", "deep_ep::"]


def test_one_file_s_hashes_are_not_another_s(tmp_path: Path) -> None:
    trace = with_secrets(tmp_path / "in.sqlite")
    for name in ("a", "b"):
        scrub(trace, tmp_path / f"{name}.sqlite", hash_kernels=True)
    one, other = (texts_of(load(Trace.open(tmp_path / f"{name}.sqlite"))) for name in ("a", "b"))
    assert not {t for t in one if t.startswith("kernel_")} & other


def test_a_kernel_s_name_does_not_show_the_range_that_is_called_the_same(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "in.sqlite").kernel(0, 9, corr=1, name="corp_gemm").api("cudaFree", 0, 1)
    build.add(
        "NVTX_EVENTS",
        start=0,
        end=9,
        eventType=59,
        textId=build.string("corp_gemm"),
        globalTid=global_id(1, 1),
        text=None,
    )
    scrub(build.write(), tmp_path / "out.sqlite", hash_ranges=True)
    model = load(Trace.open(tmp_path / "out.sqlite"))
    assert model.names.text(model.kernels["name"]).to_list() == ["corp_gemm"]
    assert model.names.text(model.nvtx["text"])[0].startswith("range_")


def plain(value: Any) -> Any:
    """Return a document without what a scrubbed file cannot have: its path and size, CPU samples, tables left out."""
    if isinstance(value, dict):
        left_out = ("path", "size_bytes", "not_used", "host_samples", "cpu_sampling")
        return {key: plain(item) for key, item in value.items() if key not in left_out}
    if isinstance(value, list):
        return [plain(item) for item in value if not isinstance(item, dict) or item.get("kind") != "not_used"]
    return value


def differing(one: Any, other: Any, place: str = "") -> list[str]:
    """Return where two documents differ, unless the other has a text without what is private in it."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in differing(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for i, pair in pairs for found in differing(*pair, f"{place}[{i}]")]
    if isinstance(one, str) and isinstance(other, str) and ".../" in other:
        return [] if re.split(r"\.\.\./", other)[0] in one else [f"{place}: {one} is not {other}"]
    return [] if one == other else [f"{place}: {str(one)[:200]!r} is not {str(other)[:200]!r}"]


@needs_shared_traces
@pytest.mark.parametrize("name", TRACES)
def test_the_analysis_of_a_scrubbed_trace_is_that_of_the_trace(name: str, tmp_path: Path) -> None:
    scrub(TRACES[name], tmp_path / "out.sqlite")
    before, after = (plain(document([analyze(path)])) for path in (TRACES[name], tmp_path / "out.sqlite"))
    assert differing(before, after) == []


@needs_shared_traces
@pytest.mark.parametrize(
    "name", ["torch_ddp_2xh100_before", "nvfuser_h200_2proc", "multistream_t4", "mpi4_v100_openacc"]
)
def test_ledgers_steps_and_totals_of_a_hashed_trace_are_those_of_the_trace(name: str, tmp_path: Path) -> None:
    scrub(TRACES[name], tmp_path / "out.sqlite", hash_kernels=True, hash_ranges=True)
    before, after = (document([analyze(path)])["traces"][0] for path in (TRACES[name], tmp_path / "out.sqlite"))
    for key in ("accounts", "host_parts", "api_exposure", "idle_causes", "launch", "gpu_complete", "sm"):
        assert [ledger[key] for ledger in after["ledgers"]] == [ledger[key] for ledger in before["ledgers"]], key
    assert [ledger["steps"]["count"] for ledger in after["ledgers"]] == [
        ledger["steps"]["count"] for ledger in before["ledgers"]
    ]
    for table in ("api_summary", "memory_time_summary", "osrt_summary", "kernel_summary", "nvtx_groups"):
        rows = [sorted(row["total_ns"] for row in document[table] or ()) for document in (before, after)]
        assert rows[0] == rows[1], table


@needs_shared_traces
@pytest.mark.parametrize("name", ["torch_windows_rtx5000ada_nvtx", "torch_rtx3070ti_train", "tf_xla_gtx1650_a"])
def test_secrets_planted_in_a_real_trace_are_gone(name: str, tmp_path: Path) -> None:
    trace = tmp_path / "in.sqlite"
    shutil.copy(TRACES[name], trace)
    trace.chmod(0o644)
    with closing(sqlite3.connect(trace)) as db:
        row = (1, "Local", "DeviceEnvironment", 610, "USER=zqalice;API_TOKEN=zqtoken77;PATH=/home/zqalice/bin")
        db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (?, ?, ?, ?, ?)", row)
        (last,) = db.execute("SELECT max(id) FROM StringIds").fetchone()
        db.execute("INSERT INTO StringIds VALUES (?, 'nobody refers to zqnote')", (last + 1,))
        (kernel,) = db.execute("SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1").fetchone()
        db.execute("UPDATE StringIds SET value = value || ' at /home/zqalice/zqdir/k.cu' WHERE id = ?", (kernel,))
        db.execute("UPDATE NVTX_EVENTS SET text = 'of zqalice' WHERE rowid IN (SELECT min(rowid) FROM NVTX_EVENTS)")
        db.commit()
    planted = ("zqalice", "zqtoken77", "zqdir", "zqnote")
    assert left_of(planted, trace) == set(planted)
    scrub(trace, tmp_path / "out.sqlite")
    assert left_of(planted, tmp_path / "out.sqlite") == set()


def test_a_secret_that_would_be_left_keeps_the_file_from_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = with_secrets(tmp_path / "in.sqlite")
    monkeypatch.setattr(Secrets, "removed", lambda _self, texts: texts)
    with pytest.raises(ExportError, match=r"was not kept: \d+ private texts"):
        scrub(trace, tmp_path / "out.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["in.sqlite"]


def test_a_file_that_would_tell_something_else_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = with_secrets(tmp_path / "in.sqlite")
    whole = shareable.shared_tables
    monkeypatch.setattr(
        "wallsplit.export.scrub.shared_tables",
        lambda trace, **options: (replace(t, rows=t.rows.head(1)) for t in whole(trace, **options)),
    )
    with pytest.raises(ExportError, match="was not kept: the number of rows of nvtx is not the same"):
        scrub(trace, tmp_path / "out.sqlite")
    assert not (tmp_path / "out.sqlite").exists()


def test_what_exists_is_replaced_only_by_force_and_the_trace_itself_never(tmp_path: Path) -> None:
    trace = with_secrets(tmp_path / "in.sqlite")
    out = tmp_path / "out.sqlite"
    out.write_text("mine")
    with pytest.raises(ExportError, match="exists; move it away or use --force"):
        scrub(trace, out)
    assert out.read_text() == "mine"
    scrub(trace, out, force=True)
    assert left_of(PLANTED, out) == set()
    with pytest.raises(ExportError, match="is the trace itself"):
        scrub(trace, trace, force=True)


def test_the_manifest_is_written_anew_for_the_new_file(tmp_path: Path) -> None:
    trace = with_secrets(tmp_path / "in.sqlite")
    capture = Capture(
        "nsys", arguments=("--output=/home/zqalice/x",), report_sha256="a" * 64, export_sha256=sha256(trace)
    )
    marks = {"step 1": 1, "corp secret": 2}
    made = replace(TRAINING, capture=capture, marks=marks, git_commit="c0ffee", parameters={"who": "zqalice"})
    beside(trace).write_text(to_json(made), encoding="utf-8")
    done = scrub(trace, tmp_path / "out.sqlite", hash_ranges=True)
    assert done.manifest == tmp_path / "out.run.json"
    found = read(tmp_path / "out.run.json")
    assert left_of(PLANTED, tmp_path / "out.run.json") == set()
    assert found.capture == Capture(
        "nsys", arguments=("--output=.../x",), export_sha256=sha256(tmp_path / "out.sqlite")
    )
    assert (found.git_commit, found.steps, found.marks["step 1"]) == (None, TRAINING.steps, 1)
    assert "corp secret" not in found.marks
    assert analyze(tmp_path / "out.sqlite").run == found


def test_samples_of_nvml_go_along_only_with_the_time_of_day(tmp_path: Path) -> None:
    build = TraceBuilder(tmp_path / "in.sqlite").range("epoch", 0, 2_000_000_000)
    trace = build.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=100).write()
    (tmp_path / "in.nvml.csv").write_text(to_csv([NvmlSample(100 + i * 10**9, 0, 50, 5, 1, 9_000) for i in range(3)]))
    made = replace(TRAINING, capture=Capture("nsys", export_sha256=sha256(trace)), nvml=NvmlFile("in.nvml.csv"))
    beside(trace).write_text(to_json(made), encoding="utf-8")
    scrub(trace, tmp_path / "without.sqlite")
    scrub(trace, tmp_path / "with.sqlite", keep_time=True)
    assert analyze(tmp_path / "without.sqlite").nvml is None
    assert analyze(tmp_path / "with.sqlite").nvml == analyze(trace).nvml is not None
    assert not (tmp_path / "without.nvml.csv").exists()


def test_what_is_printed_is_as_the_schema_says(tmp_path: Path) -> None:
    done = scrub(with_secrets(tmp_path / "in.sqlite"), tmp_path / "out.sqlite")
    jsonschema.validate(done.document(), SCHEMA)
    assert done.left_out_rows["MY_NOTES"] == 1
    assert done.size_bytes == (tmp_path / "out.sqlite").stat().st_size


def test_byte_strings_are_found_wherever_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wallsplit.export.secrets._BLOCK_BYTES", 64)
    for place in range(60, 70):
        (tmp_path / "x").write_bytes(b"-" * place + b"secret" + b"-" * 100)
        assert occurring([b"secret", b"secrets"], tmp_path / "x") == {b"secret"}
