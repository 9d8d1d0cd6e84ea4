"""What the first screen says of traces and cases: what is said, not how it is worded."""

import json
import re
from collections.abc import Callable
from functools import cache

import pytest

from analyses import ALL
from shared_traces import CASES, ORACLES, TRACES, needs_shared_traces
from wallsplit.analysis import Analysis
from wallsplit.pipeline import analyze
from wallsplit.words.advice import MOST, advice
from wallsplit.words.amounts import between, counted, duration, per_cent
from wallsplit.words.clauses import NOUNS, clause
from wallsplit.words.gpu_verdict import MOST_WORDS, words
from wallsplit.words.seconds import seconds
from wallsplit.words.speakers import speakers
from wallsplit.words.verdict import verdict

PATHS = {**TRACES, **CASES}


@cache
def analysed(name: str) -> Analysis:
    return analyze(PATHS[name])


SAYS = {  # of the verdict; then of each row of what to do, in order, or of any row where the pattern begins with "any:"
    "torch_rtx3070ti_train": (
        ["Once running", "GPU computes 95 %", "over half", "start-up"],
        ["55 % of kernel time.*tensor cores", "5.2 % of the steady.*leave launches and loading alone", "once.*warm up"],
    ),
    "torch_windows_rtx5000ada_nvtx": (
        ["90 % .*start-up", "five steps", "launching takes 64 %"],
        ["64 % of a step.*torch.compile.*shorter than their launch calls", "any:record more steps before deciding"],
    ),
    "graph_level_only_a100_torchcompile": (
        ["busy 99.9 %", "ten graph replays of 781 ms", "inside unrecorded"],
        ["nothing to win outside the GPU.*--cuda-graph-trace=node"],
    ),
    "graph_nodes_instant_ngp_rtx3070": (
        ["Once running", "computes 98 %", "8 ms steps, some 11 ms"],
        ["2.0 %.*leave .*2,065 small reads cost 0.5 %", "any:tune"],
    ),
    "rodinia_gaussian_3090": (["computes 92 %", "4,095 steps"], ["leave .*launching 6.7 %"]),
    "gpu_metrics_a100": (["97 % .*start-up", "one of 108 SMs"], ["more blocks.*0.9 % of the SMs"]),
    "tf_xla_gtx1650_a": (["60 % of the time CUDA loads code", "computes 11 %"], ["60 %.*first launch.*672 ms"]),
    "julia_flux_gtx1650": (["97 % .*one first launch", "then computes"], ["575 ms, once.*longer run"]),
    "torch_2xh100_1s_orphans": (["Both GPUs copy at least 97 %"], ["97 %.*pin.*at least.*after the work was enq"]),
    "torch_ddp_2xh100_before": (["Both GPUs compute about 85 %", "exposed communication takes 3–6 %"], []),
    "torch_ddp_2xh100_after": (["Both GPUs compute 76 %", "exposed communication takes 3–8 %"], []),
    "multistream_t4": (["75 % .*start-up", "1,221 steps", "allocation takes 18 %"], ["18 % of a step.*reuse.*pool"]),
    "mpi4_v100_openacc": (
        ["92 % .*start-up", "rest is allocation", "almost no GPU work"],
        ["do not tune the GPU yet.*18 GPU operations in 892 ms"],
    ),
    "wsl_no_kernels_4060": (["not recorded", "nothing can be said about the GPU"], ["newer profiler"]),
    "nvfuser_h200_2proc": (["68 % .*start-up", "24 GPU operations in 7.3 s"], ["do not tune the GPU yet"]),
    "python_nocuda_rtx8000": (["No CUDA work was recorded: 10.0 s of host code"], ["blocked 99.9 %"]),
    "openmp_offload_v100_2021": (
        ["Once running", "computes 89 %"],
        ["leave .*returning from waits 3.6 %, host code 2.8 %"],
    ),
    "04_two_processes_one_gpu": (["Two processes share this GPU", "busy 99.5 %"], ["MPS; neither is slow by itself"]),
    "10_blocked_on_loader": (["GPU waits", "sleeps 90 of every 100 ms"], ["90 %.*whom.*pthread_cond_timedwait"]),
    "02_oom": (["Out of memory", "cudaMalloc failed", "launched nothing"], ["memory.*GB were held"]),
    "16_no_kernel_image": (
        ["No kernel ran", "ten launches failed", "209", "no kernel image"],
        ["build for this GPU"],
    ),
}


@needs_shared_traces
@pytest.mark.parametrize("name", SAYS)
def test_the_verdict_and_the_advice_say_what_was_found(name: str) -> None:
    analysis = analysed(name)
    of_verdict, of_rows = SAYS[name]
    said = verdict(analysis)
    assert [part for part in of_verdict if not re.search(part, said)] == [], said
    rows = [f"{row.at_most} | {row.do} | {row.because}" for row in advice(analysis)]
    fixed = [pattern for pattern in of_rows if not pattern.startswith("any:")]
    for pattern, row in zip(fixed, rows, strict=False):
        assert re.search(pattern, row), row
    for pattern in set(of_rows) - set(fixed):
        assert any(re.search(pattern.removeprefix("any:"), row) for row in rows), rows
    assert len(rows) >= len(fixed)


@needs_shared_traces
@pytest.mark.parametrize("name", PATHS)
def test_no_verdict_is_longer_than_fifteen_words_and_no_advice_than_three_rows(name: str) -> None:
    analysis = analysed(name)
    said = verdict(analysis)
    assert words(said) <= MOST_WORDS, said
    assert said.endswith(".")
    assert said[0] == said[0].upper()
    assert len(advice(analysis)) <= MOST


@pytest.mark.parametrize("make", ALL)
def test_there_is_a_verdict_with_findings_and_without_any(make: Callable[[], Analysis]) -> None:
    assert 0 < words(verdict(make())) <= MOST_WORDS
    assert len(advice(make())) <= (MOST if make().explained else 1)


READ = (  # what matters in a longer run decides the first row
    ("torch_windows_rtx5000ada_nvtx", "launch", "launch"),
    ("multistream_t4", "alloc", "allocate|buffers"),
    ("gpu_metrics_a100", "small_grids", "blocks"),
    ("tf_xla_gtx1650_a", "loading", "loop|load"),
    ("torch_2xh100_1s_orphans", "transfer", "pin"),
    ("rodinia_gaussian_3090", "gpu_bound", "leave launches"),
    ("graph_nodes_instant_ngp_rtx3070", "gpu_bound", "leave launches"),
    ("openmp_offload_v100_2021", "gpu_bound", "leave launches"),
    ("10_blocked_on_loader", "blocked", "waits for"),
    ("04_two_processes_one_gpu", "shared_gpu", "MPS"),
    ("03_unified_memory", "migration", "prefetch"),
    ("06_comm_without_nccl", "comm", "overlap"),
)


@needs_shared_traces
@pytest.mark.parametrize(("name", "in_scope", "do"), READ)
def test_the_first_row_is_about_what_matters_in_a_longer_run(name: str, in_scope: str, do: str) -> None:
    analysis = analysed(name)
    assert speakers(analysis)[0].diagnosis.in_scope == in_scope
    first = advice(analysis)[0]
    assert re.search(do, f"{first.do} {first.because}"), first


@needs_shared_traces
@pytest.mark.parametrize("name", TRACES)
def test_what_is_read_first_rests_on_the_finding_of_the_oracle(name: str) -> None:
    """The verdict and the first row are made from these: see the reading above."""
    assert ORACLES
    oracle = ORACLES / name / "why.json"
    if not oracle.exists():
        pytest.skip("no oracle")
    expected = {
        (ledger["pid"], ledger["device"]): ledger["diagnosis"].get("in_scope")
        for ledger in json.loads(oracle.read_text(encoding="utf-8"))["ledgers"]
    }
    read = {(x.ledger.pid, x.ledger.device): x.diagnosis.in_scope for x in speakers(analysed(name))}
    assert read == {place: expected[place] for place in read}


@needs_shared_traces
@pytest.mark.parametrize("name", PATHS)
def test_every_finding_has_its_evidence_in_words(name: str) -> None:
    for speaker in speakers(analysed(name)):
        for finding in speaker.diagnosis.findings:
            assert clause(speaker, finding)


@needs_shared_traces
def test_the_line_below_adds_up_and_proves_it() -> None:
    assert seconds(analysed("torch_rtx3070ti_train")) == (
        "3.361 s recorded: 1.770 s start-up and first steps, 914 ms steady, 677 ms after it; sum = wall, residual 0 ns."
    )


def test_no_noun_makes_the_longest_sentence_too_long() -> None:
    longest = max(NOUNS.values(), key=words)
    assert words(f"The GPU computes 0.6 %; {longest} probably takes 58 % of the time.") <= MOST_WORDS
    assert words(f"97 % is start-up; in its 1,221 steps, {longest} probably takes 58 %.") <= MOST_WORDS


@pytest.mark.parametrize(
    ("ratio", "said"),
    [(1.0, "100 %"), (0.9995, "99.9 %"), (0.948, "95 %"), (0.0668, "6.7 %"), (0.0, "0.0 %"), (0.9896, "99 %")],
)
def test_nothing_short_of_all_is_called_all(ratio: float, said: str) -> None:
    assert per_cent(ratio) == said


def test_amounts_in_sentences_are_short() -> None:
    assert [duration(ns) for ns in (7.317e9, 781.2e6, 3.54e6, 67e3, 12)] == [
        "7.3 s",
        "781 ms",
        "3.5 ms",
        "67 µs",
        "12 ns",
    ]
    assert counted(1, "copy") + counted(10, "launch") + counted(4095, "copy") == "one copyten launches4,095 copies"
    assert between([0.034, 0.079]) == "3–8 %"
    assert between([0.5, 0.5]) == "50 %"
