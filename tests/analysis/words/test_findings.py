"""The sentence behind each finding: figures, bounds and doubts in words."""

from dataclasses import replace

import pytest

from analyses import cpu_ledger, ledger, usual
from explanations import CAUSES_OF_FINDINGS, explained, explanation, finding, without_device
from wallsplit.diagnosis.explanation import Explained
from wallsplit.diagnosis.remedies import REMEDIES
from wallsplit.diagnosis.rules import RULES
from wallsplit.why.causes import CAUSES
from wallsplit.words.findings import SENTENCES, Case, because
from wallsplit.words.headline import headline
from wallsplit.words.no_findings import without_findings
from wallsplit.words.titles import TITLES

GPU = ledger(gpu_kernel=600_000, cuda_alloc=100_000, host=300_000)
WHY = explanation(GPU, ("cudaThing",))


def said(cause: str, **changes: object) -> str:
    why = replace(WHY, **changes)  # type: ignore[arg-type]
    return because(Case(GPU, why, finding(cause, GPU.wall_ns, ("cudaThing",)), Explained((why,))))


def test_every_rule_has_a_sentence_a_title_and_a_remedy() -> None:
    for rule in RULES:
        assert rule.cause in SENTENCES or rule.cause in ("no_cuda", "no_gpu_use", "abstain")
        assert rule.cause in TITLES
        assert rule.cause in REMEDIES
    assert set(CAUSES) <= set(TITLES)


@pytest.mark.parametrize("cause", CAUSES_OF_FINDINGS)
def test_a_sentence_has_figures_and_ends(cause: str) -> None:
    text = said(cause)
    assert any(letter.isdigit() for letter in text)
    assert text.endswith(".")
    assert "None" not in text


@pytest.mark.parametrize("cause", CAUSES_OF_FINDINGS)
def test_a_sentence_does_without_what_was_not_measured(cause: str) -> None:
    bare = replace(WHY, sm=None, launch=None, sync=None, comm=None, managed_memory=None)
    text = because(Case(GPU, bare, finding(cause, GPU.wall_ns), Explained((bare,))))
    assert text.endswith(".")
    assert "None" not in text


def test_what_is_inferred_is_probable() -> None:
    assert "probably" in said("input")
    assert "probably" in said("migration")
    assert "probably" in said("host")  # managed memory is read on the host
    assert "probably" not in said("host", managed_memory=None)


def test_launching_is_told_per_step_with_what_graphs_could_save_at_most() -> None:
    text = said("launch")
    assert "96 launches per step, each 40.0 µs in its call; kernels last 9.00 µs" in text
    assert "at most 100 µs of the window" in text


def test_waits_are_blamed_by_their_idle_time_and_not_by_number() -> None:
    text = said("sync")
    assert "25.0 % of the steady steps" in text
    assert text.index("25.0 %") < text.index("2 waits")


def test_a_sleeping_host_is_told_with_the_call_it_sleeps_in() -> None:
    assert "most in cudaThing" in said("blocked")


def test_small_grids_are_told_beside_what_a_kernel_looks_like() -> None:
    assert "A kernel runs 50.0 % of the steady steps, on 2.1 % of the 48 multiprocessors" in said("small_grids")


def test_long_calls_are_told_from_the_usual_cost() -> None:
    assert "17 of the 1,221 calls of cudaThing hold 9.00 µs" in said("alloc")
    assert "a few stalls" not in said("sync")


def test_what_failed_is_said_in_words() -> None:
    assert "10 × cudaThing failed: no kernel image for this GPU (code 209)" in said("failed_calls")


def test_a_long_name_is_shortened() -> None:
    why = explanation(GPU, ("x" * 10_000,))
    text = because(Case(GPU, why, finding("startup", GPU.wall_ns, ("x" * 10_000,)), Explained((why,))))
    assert len(text) < 1_000


def test_without_gpu_rows_nothing_is_concluded_and_the_failed_call_is_named() -> None:
    silent = ledger(None, complete=False, cuda_launch=30, host=70)
    text = without_findings("process 100", silent, without_device(silent), asked_for_cpu=False)
    assert "cudaMalloc failed: out of memory (code 2)" in text
    assert "fix the failing call first" in text


def test_a_run_that_was_to_use_the_cpu_is_not_told_to_look_for_a_gpu() -> None:
    host = cpu_ledger(100)
    why = replace(WHY, diagnosis=replace(WHY.diagnosis, primary="no_cuda"))
    assert "check that the framework sees one" in without_findings("process 1", host, why, asked_for_cpu=False)
    assert "check" not in without_findings("process 1", host, why, asked_for_cpu=True)


def test_lost_rows_are_the_reason_to_abstain() -> None:
    lossy = replace(GPU, gpu_complete=False, launch_coverage=0.5)
    why = replace(WHY, diagnosis=replace(WHY.diagnosis, primary="abstain"))
    assert "only 50.0 % of the launches have GPU rows" in without_findings("GPU 0", lossy, why, asked_for_cpu=False)


def test_the_headline_says_what_holds_once_it_runs() -> None:
    text = explained(usual()).headline
    assert ". Once running, 1.681 s of it: GPU computing 51.6 %" in text


def test_steady_steps_that_are_the_window_need_no_second_sentence() -> None:
    whole = explained(usual())
    assert whole.explained and whole.window
    (why,) = whole.explained.ledgers
    phases = tuple(
        replace(phase, start_ns=0, end_ns=whole.window.wall_ns) if phase.name == "steady" else phase
        for phase in why.diagnosis.phases_of_run or ()
    )
    alone = replace(why, diagnosis=replace(why.diagnosis, phases_of_run=phases))
    assert "Once running" not in headline(whole.ledgers, whole.window, Explained((alone,)))
