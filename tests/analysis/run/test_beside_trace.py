"""The manifest beside a trace: taken if it was written for it, ignored with a note if not."""

from dataclasses import replace
from pathlib import Path

import pytest

from builders import TraceBuilder
from recorded_runs import TRAINING, put_beside
from wallsplit.pipeline import analyze
from wallsplit.run.beside_trace import in_words, recorded_run
from wallsplit.run.manifest import Baseline, Capture, Load, NvmlFile, beside, to_json
from wallsplit.run.nvml import NvmlSample, to_csv
from wallsplit.run.perturbation import perturbation

SECOND = 1_000_000_000


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    build = TraceBuilder(tmp_path / "run.sqlite").range("epoch", 0, 2 * SECOND)
    return build.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=100 * SECOND).write()


def said(trace: Path) -> str:
    return "\n".join(f"{note.level}: {note.text}" for note in recorded_run(trace).notes)


def test_a_manifest_written_for_the_trace_is_taken_without_a_word(trace: Path) -> None:
    made = put_beside(trace)
    assert recorded_run(trace).manifest == made
    assert said(trace) == ""
    assert analyze(trace).run == made


def test_a_trace_alone_has_no_run_and_needs_no_note(trace: Path) -> None:
    assert recorded_run(trace).manifest is None
    assert said(trace) == ""


def test_a_manifest_of_another_file_is_ignored_with_a_note(trace: Path) -> None:
    made = replace(TRAINING, capture=Capture("nsys", report_sha256="a" * 64, export_sha256="b" * 64))
    beside(trace).write_text(to_json(made), encoding="utf-8")
    found = analyze(trace)
    assert (found.run, found.arithmetic) == (None, None)
    assert said(trace).startswith("warning: run.run.json beside the trace is ignored: it was written for another file")


def test_the_report_that_was_named_is_what_the_manifest_must_match(trace: Path) -> None:
    report = trace.with_suffix(".nsys-rep")
    report.write_bytes(b"report")
    put_beside(report)
    assert analyze(trace, shown_as=report).run is not None
    assert analyze(trace).run is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 99}', "\ud800"])
def test_a_malformed_manifest_is_ignored_with_a_note_without_its_folder(trace: Path, text: str) -> None:
    beside(trace).write_text(text, encoding="utf-8", errors="surrogatepass")
    assert analyze(trace).run is None
    assert said(trace).startswith("warning: run.run.json beside the trace is ignored: ")
    assert str(trace.parent) not in said(trace)
    assert "\n" not in said(trace)


def test_a_manifest_without_a_digest_is_taken_but_not_vouched_for(trace: Path) -> None:
    beside(trace).write_text(to_json(TRAINING), encoding="utf-8")
    assert recorded_run(trace).manifest == TRAINING
    assert said(trace).startswith("info: run.run.json is taken to describe this trace because it lies beside it")


def with_samples(trace: Path, text: str, file: str = "run.nvml.csv") -> None:
    put_beside(trace, replace(TRAINING, nvml=NvmlFile(file)))
    trace.with_name(file).write_text(text, encoding="utf-8")


def test_nvml_samples_are_summed_over_the_window_on_the_clock_of_the_trace(trace: Path) -> None:
    readings = [NvmlSample((99 + t) * SECOND, 0, (0, 90, 100, 100, 0)[t], None, None, 50_000) for t in range(5)]
    with_samples(trace, to_csv(readings))
    found = analyze(trace).nvml
    assert found is not None
    assert (found.sample_count, found.epoch_count) == (2, 1)
    assert found.gpu_ratio == pytest.approx(0.95)
    assert found.epoch_energy_joules == pytest.approx(100)


@pytest.mark.parametrize("text", ["", "anything", "utc_ns\nx"])
def test_samples_that_are_none_are_ignored_with_a_note(trace: Path, text: str) -> None:
    with_samples(trace, text)
    found = analyze(trace)
    assert found.run is not None
    assert found.nvml is None
    assert said(trace).startswith("warning: run.nvml.csv is ignored: ")


def test_a_file_of_samples_too_large_is_ignored_unread(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_samples(trace, to_csv([NvmlSample(99 * SECOND, 0, 1, None, None, 50_000)]))
    monkeypatch.setattr("wallsplit.run.beside_trace.NVML_LIMIT_BYTES", 10)
    assert said(trace) == "warning: run.nvml.csv is ignored: it has more than 10 bytes."


def test_missing_samples_are_mentioned(trace: Path) -> None:
    put_beside(trace, replace(TRAINING, nvml=NvmlFile("gone.csv")))
    assert said(trace) == "info: gone.csv, the NVML samples of this run, is not beside the trace."


def sentence(plain: tuple[int, ...], profiled: tuple[int, ...]) -> str:
    return in_words(perturbation(Baseline("epochs", plain, profiled)), "epochs")


def test_the_cost_of_profiling_is_one_sentence_with_its_spread_and_verdict() -> None:
    assert sentence((100, 101, 102), (120, 121, 122)) == (
        "The profiled run was slower by 19.8 % (epochs, spread 17.6 % to 22.0 %); perturbed: "
        "every profiled run was slower than every unprofiled one."
    )
    assert sentence((100, 101, 102), (99, 100, 101)).startswith(
        "The profiled run was faster by 0.99 % (epochs, spread -2.9 % to 1.0 %); not perturbed: "
    )
    assert sentence((100,), (300,)) == (
        "The profiled run was slower by 200.0 % (epochs); whether through the profiler cannot be told: "
        "with one run of each kind the noise is unknown."
    )
    assert sentence((100,), ()) == (
        "Whether profiling slowed the run cannot be told: there is no run without the profiler to compare with."
    )


def test_a_perturbed_run_is_a_warning(trace: Path) -> None:
    put_beside(trace, replace(TRAINING, baseline=Baseline("sum of epochs", (100, 101, 102), (150, 151, 152))))
    assert said(trace).startswith("warning: The profiled run was slower by 49.5 %")
    found = analyze(trace)
    assert found.perturbation is not None
    assert found.perturbation.verdict == "perturbed"


def test_a_run_on_the_cpu_that_shared_the_machine_is_noted(trace: Path) -> None:
    def with_cpu_time(cpu_time_ns: int) -> str:
        put_beside(trace, replace(TRAINING, device="cpu", wall_ns=1_000, load=Load(cpu_time_ns)))
        return said(trace)

    assert "warning: The machine was busy: this run had 28 % of a core" in with_cpu_time(280)
    assert with_cpu_time(1_900) == ""
