"""docs/why.md and what the study says of it repeat the code and the committed trace, nothing else."""

import re
from pathlib import Path

import pytest

from builders import TraceBuilder
from test_docs import table_after
from wallsplit import units
from wallsplit.diagnosis.frameworks import FRAMEWORKS
from wallsplit.diagnosis.remedies import REMEDIES
from wallsplit.diagnosis.rules import RULES
from wallsplit.ledger.os_calls import FILE, OS_CLASSES, os_class
from wallsplit.pipeline import analyze
from wallsplit.why.sm_limits import SM_LIMITS
from wallsplit_study.claims import reached

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_lists_every_rule_with_its_order_and_reason() -> None:
    rows = table_after("why.md", "| finding | order")
    assert rows == [[f"`{rule.cause}`", str(rule.order), rule.holds, rule.why] for rule in RULES]


def test_the_page_lists_what_to_do_by_framework() -> None:
    rows = table_after("why.md", "| finding | everyone")
    assert rows == [
        [f"`{cause}`", own.everyone, own.pytorch, own.tensorflow, own.jax, own.source]
        for cause, own in REMEDIES.items()
    ]


def test_the_page_lists_the_limits_of_a_multiprocessor() -> None:
    rows = table_after("why.md", "| compute capability")
    assert rows == [
        [f"{major}.{minor}", str(x.warps), str(x.blocks), f"{x.registers:,}", f"{x.shared_bytes:,}"]
        for (major, minor), x in SM_LIMITS.items()
    ]


def test_the_page_lists_the_marks_of_the_frameworks() -> None:
    text = (ROOT / "docs" / "why.md").read_text(encoding="utf-8")
    for name, pattern in FRAMEWORKS:
        escaped = pattern.replace("|", "\\|")
        assert f"| `{name}` | `{escaped}` |" in text


def test_the_page_lists_the_classes_of_os_calls_with_examples_of_each() -> None:
    rows = table_after("why.md", "| class | what a thread")
    assert [row[0] for row in rows] == [f"`{name}`" for name in (*(kind for kind, _ in OS_CLASSES), FILE)]
    for name, _, examples in rows:
        calls = re.findall("`(.*?)`", examples)
        assert calls
        assert {os_class(call) for call in calls} == {name.strip("`")}


def page_of_the_study() -> str:
    """Return the page's text on one line, links without their targets."""
    text = (ROOT / "docs" / "the-study.md").read_text(encoding="utf-8")
    return " ".join(re.sub(r"\]\([^)]*\)", "]", text).replace("[", "").replace("]", "").split())


def test_the_study_tells_why_the_reconstructed_epoch_waits() -> None:
    found = analyze(ROOT / "traces" / "keras-gpu.reconstructed.sqlite")
    assert found.explained
    (why,) = found.explained.ledgers
    once, steady, _ = why.diagnosis.phases_of_run or ()
    scope = why.diagnosis.scope
    assert scope
    page = page_of_the_study()
    lengths = [units.ns(phase.end_ns - phase.start_ns) for phase in (once, steady)]
    assert f"{lengths[0]} are paid once, {lengths[1]} are its 1,875 steps" in page
    for cause, words in (
        ("input", "preparing the next batch, probably"),
        ("launch", "launching"),
        ("work", "computing"),
    ):
        assert f"{words} {units.ratio(scope.causes[cause] / scope.size_ns)}" in page


def test_the_study_sets_what_nvidia_smi_shows_beside_sm_coverage() -> None:
    steady = analyze(ROOT / "traces" / "keras-gpu.reconstructed.sqlite", "steady")
    assert steady.explained
    use = steady.explained.ledgers[0].sm
    assert use and use.sm_coverage and use.sm_coverage_while_active
    page = page_of_the_study()
    assert f"a kernel runs {units.ratio(use.kernel_active_ratio)} of the steps" in page
    assert f"SM coverage is {units.fine_ratio(use.sm_coverage)}" in page
    assert f"{units.ratio(use.sm_coverage_while_active)} of the SMs while one runs" in page


def test_the_study_tells_the_parts_of_the_time_outside_cuda_calls() -> None:
    parts = analyze(ROOT / "traces" / "keras-gpu.reconstructed.sqlite").ledgers[0].host_parts
    assert parts
    steps = parts["host.step"] + parts["host.validation"]
    page = page_of_the_study()
    assert f"leaves {sum(parts.values()) / 1e9:.1f} s in which no CUDA call runs" in page
    assert f"put {units.ns(parts['host.compile'])} between the calls of the set-up and {units.ns(steps)} into" in page
    assert f"into the steps, {steps / 1_875 / 1e6:.2f} ms in each" in page


def test_the_study_sets_arithmetic_against_overhead_as_the_report_of_the_reconstruction_does() -> None:
    (found,) = analyze(ROOT / "traces" / "keras-gpu.reconstructed.sqlite").arithmetic or ()
    names = {"epoch": "epoch", "step": "training step", "validation_step": "validation step"}
    rows = []
    for work in found.works:
        if work.per in names:
            shares = (work.overhead_at_least_ns, work.overhead_at_most_ns)
            times = (work.wall_ns, work.measured_ns, work.modelled_ns)
            overhead = " – ".join(units.ratio((ns or 0) / work.wall_ns) for ns in shares)
            rows.append([names[work.per], *(units.ns(ns or 0) for ns in times), overhead])
    assert table_after("the-study.md", "| of one | wall") == rows


@pytest.mark.parametrize("tile", [32, 64, 128])
@pytest.mark.parametrize("batch", [32, 2_048])
def test_the_study_models_the_grid_of_a_product_at_two_batch_sizes(tmp_path: Path, batch: int, tile: int) -> None:
    """The forward product of layer 1 in square tiles, a block each, for the whole window."""
    blocks = -(-batch // tile) * -(-128 // tile)
    build = TraceBuilder(tmp_path / "run.sqlite")
    limits = {"maxWarpsPerSm": 32, "maxBlocksPerSm": 16, "maxRegistersPerSm": 65_536, "maxShmemPerSm": 65_536}
    build.add("TARGET_INFO_GPU", id=0, name="Quadro RTX 5000", smCount=48, computeMajor=7, computeMinor=5, **limits)
    build.kernel(0, 1_000, gridX=blocks, gridY=1, gridZ=1, blockX=256, blockY=1, blockZ=1, registersPerThread=32)
    found = analyze(build.write())
    assert found.explained
    use = found.explained.ledgers[0].sm
    assert use and use.kernel_active_ratio == 1.0 and use.sm_coverage is not None
    row = [f"{batch:,}", f"{tile} × {tile}", f"{blocks:,}", "100.0 %"]
    row += [f"{reached(batch, tile)} of 48", units.ratio(use.sm_coverage)]
    assert row in table_after("the-study.md", "| batch | tile")
