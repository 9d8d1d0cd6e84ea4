"""The committed samples: what they hold, that they can be made anew, and that nothing private is in them."""

import os
import re
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from samples import keras_gpu_manifest, numpy_loop, reconstruct_keras_gpu, record_numpy_loop
from samples.nsys_tables import write
from wallsplit.errors import CaptureError
from wallsplit.ledger.activity import activities
from wallsplit.ledger.booking import book
from wallsplit.ledger.ledger import Ledger
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model, load
from wallsplit.pipeline import analyze
from wallsplit.run.manifest import beside, matches, read
from wallsplit.trace import Trace

KERAS, NUMPY = reconstruct_keras_gpu.TARGET, record_numpy_loop.TARGET
MS = 1_000_000


@pytest.fixture(scope="module")
def keras() -> Model:
    return load(Trace.open(KERAS))


@pytest.fixture(scope="module")
def numpy() -> Model:
    return load(Trace.open(NUMPY))


def only_ledger(model: Model) -> Ledger:
    window = default_window(model)
    assert window is not None
    (activity,) = activities(model)
    return book(activity, [window])[0]


def total_ns(frame: pl.DataFrame) -> int:
    return int((frame["end"] - frame["start"]).sum())


def ranges(model: Model) -> dict[str, int]:
    names = model.names.text(model.nvtx["range"])
    return {str(name): count for name, count in names.value_counts().iter_rows()}


def test_both_samples_together_are_under_2_mb() -> None:
    assert KERAS.stat().st_size + NUMPY.stat().st_size < 2_000_000


def test_the_reconstruction_written_anew_is_the_committed_file_byte_for_byte(tmp_path: Path) -> None:
    anew = tmp_path / "anew.sqlite"
    reconstruct_keras_gpu.main(anew)
    assert anew.read_bytes() == KERAS.read_bytes()
    assert beside(anew).read_text() == beside(KERAS).read_text()


def test_the_manifest_belongs_to_the_reconstruction_and_reads_back_as_it_was_made() -> None:
    found = read(beside(KERAS))
    assert found == keras_gpu_manifest.manifest(KERAS)
    assert matches(found, KERAS) is True


def test_a_report_of_the_reconstruction_sets_arithmetic_against_overhead_for_the_epoch_and_for_each_step() -> None:
    """13.1 and 6.5 MFLOP at 11.06 TFLOP/s, and kernels of 2 µs beside that, in a step of 2.24 ms."""
    (found,) = analyze(KERAS).arithmetic or ()
    works = {work.per: work for work in found.works}
    assert works["epoch"].wall_ns == 6_500 * MS
    assert works["epoch"].flops == 1_500 * 13_090_816 + 375 * 6_504_448
    steps = [(work.per, work.wall_ns, work.measured_ns, work.modelled_ns) for work in found.works[-2:]]
    assert steps == [("step", 2_240_000, 15_183, 1_184), ("validation_step", 2_240_000, 6_588, 588)]


def test_the_time_outside_cuda_calls_is_between_the_calls_of_set_up_or_inside_the_steps(keras: Model) -> None:
    """3.8 s is what the published figures leave; its parts are the assumptions' own, and the file says so."""
    parts = analyze(KERAS).ledgers[0].host_parts
    assert parts is not None
    set_up, steps = parts["host.compile"], parts["host.step"] + parts["host.validation"]
    assert set_up + steps == sum(parts.values()) == (6_500 - 2_700) * MS
    stated = f"{set_up / 1e9:.2f} s between the calls of set-up and {steps / 1e9:.2f} s at the head of the steps"
    assert any(stated in assumption for assumption in keras.capture.assumptions)


@pytest.mark.parametrize(("batch", "blocks", "reached"), [(32, 4, 4), (2_048, 256, 48)])
def test_a_product_of_layer_1_reaches_as_many_multiprocessors_as_its_grid_has_blocks(
    keras: Model, batch: int, blocks: int, reached: int
) -> None:
    node = reconstruct_keras_gpu.product("gemm", batch, 784, 128)
    assert (node.blocks, min(node.blocks, reconstruct_keras_gpu.SMS)) == (blocks, reached)
    (stated,) = (text for text in keras.capture.assumptions if "32 × 32" in text and "tiles" in text)
    assert f"{blocks} blocks" in stated
    assert f"{reached}" in stated


def test_the_reconstruction_has_the_three_published_figures(keras: Model) -> None:
    names = keras.names.text(keras.api_calls["name"])
    assert (names == "cuGraphLaunch").sum() == 1_500 + 375
    assert total_ns(keras.api_calls) == 2_700 * MS
    assert only_ledger(keras).wall_ns == 6_500 * MS
    assert ranges(keras) == {"epoch": 1, "compile": 1, "step": 1_500, "validation_step": 375}


def test_the_reconstruction_claims_no_more_arithmetic_than_its_model(keras: Model) -> None:
    """One forward pass per step, and for training the gradients of both weights and of the hidden layer."""
    layer_1, layer_2 = 2 * 32 * 784 * 128, 2 * 32 * 128 * 10
    flop = 1_875 * (layer_1 + layer_2) + 1_500 * (layer_1 + 2 * layer_2)
    kernels = 1_500 * 7 + 375 * 3
    at_peak_ns = flop / (48 * 64 * 2 * 1.8)
    assert keras.kernels.height == kernels
    assert total_ns(keras.kernels) == pytest.approx(kernels * 2_000 + at_peak_ns, rel=1e-3)


def test_the_reconstruction_is_complete_and_each_launch_owns_its_kernels(keras: Model) -> None:
    ledger = only_ledger(keras)
    assert (ledger.launch_coverage, ledger.api_coverage, ledger.residual_ns) == (1.0, 1.0, 0)
    assert keras.unusable_rows == {}
    assert keras.kernels.group_by("correlation_id").len()["len"].value_counts().sort("len").rows() == [
        (3, 375),
        (7, 1_500),
    ]


def test_the_reconstruction_says_that_it_is_one(keras: Model) -> None:
    assert keras.capture.note is not None
    assert keras.capture.note.startswith("Reconstructed from published figures, not recorded")


def test_the_assumptions_give_the_numbers_that_the_rows_have(keras: Model) -> None:
    names = keras.names.text(keras.api_calls["name"])
    launches = keras.api_calls.filter(names == "cuGraphLaunch")
    copies_in = keras.api_calls.filter(names == "cuMemcpyHtoDAsync")
    set_up = keras.api_calls.filter(pl.col("start") < reconstruct_keras_gpu.START_NS + 2_300 * MS)
    calls = keras.api_calls.sort("start")
    gaps = (calls["start"].shift(-1) - calls["end"]).drop_nulls().to_list()
    text = " ".join(keras.capture.assumptions)
    for stated in (
        f"The {total_ns(launches) // launches.height // 1_000} µs of cuGraphLaunch",
        f"copy the batch in ({total_ns(copies_in) // copies_in.height // 1_000} µs)",
        f"{total_ns(set_up) / MS:.2f} ms in the 2.3 s of set-up",
        f"each followed by {gaps[0] / MS:.2f} ms of host code",
        f"a step is {gaps[-4] // 1_000:,} µs of host code",
        f"{keras.memory_ops['bytes'].to_list()[0]:,} bytes per batch",
    ):
        assert stated in text


def test_the_recorded_loop_has_all_its_steps_and_their_phases(numpy: Model) -> None:
    steps = numpy_loop.EPOCHS * numpy_loop.STEPS
    phases = dict.fromkeys(("step", "data", "forward", "backward", "update"), steps)
    assert ranges(numpy) == {"epoch": numpy_loop.EPOCHS, **phases}


def test_the_recorded_loop_reads_one_batch_per_step_and_claims_nothing_about_a_gpu(numpy: Model) -> None:
    calls = numpy.names.text(numpy.osrt["name"])
    assert (calls == "read").sum() == numpy_loop.EPOCHS * numpy_loop.STEPS
    ledger = only_ledger(numpy)
    assert (ledger.device, ledger.accounts["gpu.kernel"], ledger.accounts["host"]) == (None, None, ledger.wall_ns)


@pytest.mark.parametrize("sample", [KERAS, beside(KERAS), NUMPY], ids=lambda path: path.name)
def test_no_path_variable_or_time_of_day_is_in_the_bytes(sample: Path) -> None:
    forbidden = [
        *("/root", "/home", "/work", "/tmp", "/usr", "/opt", ".py", "HOME", "PATH", "LD_", "PYTHON", "USER", "LANG"),
        *("bash", "systemd", "Linux", "GNU", "UTC", "localhost", "CPU_", "SHELL", "TERM"),
    ]
    content = sample.read_bytes().decode("latin-1")
    assert [word for word in forbidden if word in content] == []
    assert re.findall(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", content) == []


def test_the_recorded_loop_names_neither_this_machine_nor_its_environment() -> None:
    content = NUMPY.read_bytes().decode("latin-1")
    names = [name for name in (socket.gethostname(), *os.environ) if len(name) > 3]
    assert [name for name in names if name in content] == []


def test_the_recorded_loop_has_no_text_but_names_of_ranges_functions_and_versions() -> None:
    with closing(sqlite3.connect(f"{NUMPY.as_uri()}?mode=ro", uri=True)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
        texts = {
            value
            for table in tables
            for row in database.execute(f"SELECT * FROM {table}")
            for value in row
            if isinstance(value, str)
        }
    c_functions = {text for text in texts if re.fullmatch(r"[a-z_][a-z0-9_]*", text)}
    assert texts - c_functions == {
        *("NVIDIA Nsight Systems", "2023.4.4.54", "3.7.2"),
        *("EXPORT_PRODUCT_NAME", "EXPORT_PRODUCT_VERSION", "EXPORT_SCHEMA_VERSION"),
    }


RAW_EXPORT = """
    CREATE TABLE StringIds (id INTEGER, value TEXT);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER,
                              textId INTEGER);
    CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER,
                           returnValue INTEGER);
    CREATE TABLE ANALYSIS_DETAILS (duration INTEGER, startTime INTEGER, stopTime INTEGER);
    CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
    CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
    INSERT INTO StringIds VALUES (1, 'step'), (2, 'read'), (3, 'TOKEN=secret'), (4, '/home/somebody');
    INSERT INTO OSRT_API VALUES (10, 20, 27, 7777 << 24 | 7778, 2, 4711), (10, 20, 27, 8888 << 24, 3, 0);
    INSERT INTO ANALYSIS_DETAILS VALUES (5000, 123456789, 123461789);
    INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.7.2'), ('EXPORT_HOST', 'somehost');
    INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('TOKEN', 'secret');
"""


def raw_export(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(RAW_EXPORT)
        steps = numpy_loop.EPOCHS * numpy_loop.STEPS
        database.executemany(
            "INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, 7777 << 24 | 7778, 1)",
            [(n * 10, n * 10 + 5) for n in range(1, steps + 1)],
        )
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


def test_scrubbing_copies_only_what_it_knows(tmp_path: Path) -> None:
    target = tmp_path / "scrubbed.sqlite"
    write(target, record_numpy_loop.scrubbed(raw_export(tmp_path / "raw.sqlite")))
    content = target.read_bytes()
    assert not [word for word in (b"secret", b"TOKEN", b"somebody", b"somehost", b"ENV") if word in content]
    model = load(Trace.open(target))
    assert model.osrt.select("start", "end", "pid").rows() == [(10, 20, record_numpy_loop.PID)]
    assert model.capture.duration_ns == 5_000


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE StringIds SET value = 'read /etc/passwd' WHERE id = 2", "no C functions"),
        ("UPDATE NVTX_EVENTS SET text = 'my-secret' WHERE start = 10", "steps recorded"),
        ("INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'my-secret', 7777 << 24, NULL)", "does not have"),
    ],
)
def test_scrubbing_stops_at_a_text_it_does_not_know(tmp_path: Path, statement: str, message: str) -> None:
    with pytest.raises(CaptureError, match=message):
        record_numpy_loop.scrubbed(raw_export(tmp_path / "raw.sqlite", statement))
