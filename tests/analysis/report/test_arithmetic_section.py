"""Arithmetic against overhead and the run as people read them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from analyses import analysis, cpu_run, incomplete, ledger, trained, two_gpus, usual
from recorded_runs import with_run
from wallsplit.analysis import Analysis
from wallsplit.report.build import report
from wallsplit.report.document import AtLeast, Facts, Paragraph, Section, Table
from wallsplit.report.json import document, text
from wallsplit.report.markdown import markdown
from wallsplit.report.sections.arithmetic import arithmetic, nvidia_smi
from wallsplit.report.sections.ledger import ledger as the_ledger
from wallsplit.report.sections.run import run
from wallsplit.run.nvml import NvmlSummary

MANIFEST = Path(__file__).parents[3] / "docs" / "run-manifest.schema.json"


def section(of: Analysis) -> Section:
    found = arithmetic(of, 20)
    assert found is not None
    return found


def words(of: Analysis) -> str:
    return "\n".join(block.text for block in section(of).blocks if isinstance(block, Paragraph))


def titles(of: Analysis) -> list[str]:
    (table,) = [block for block in section(of).blocks if isinstance(block, Table)]
    return [column.title for column in table.columns]


def test_every_figure_says_of_which_kind_it_is() -> None:
    said = words(trained())
    assert "(modelled: 1.00 kFLOP at 1.00 GFLOP/s)" in said
    assert "the GPU worked for 1.734 s (measured)" in said
    assert "overhead is 1.627 s – 3.327 s (48.4 % – 99.0 % of wall)" in said
    assert "FLOP utilisation 1.0 % of peak over the wall time" in said


def test_on_a_cpu_nothing_is_said_about_gpu_work() -> None:
    assert "GPU" not in words(replace(with_run(cpu_run()), nvml=None))
    assert not [title for title in titles(with_run(cpu_run())) if "GPU" in title]


def test_a_process_without_flops_of_its_own_is_left_out_beside_one_that_has_some() -> None:
    both = with_run(two_gpus())
    assert both.arithmetic is not None
    idle, busy = both.arithmetic
    unknown = replace(idle, works=(replace(idle.works[0], flops=None, modelled_ns=None),))
    tables = [block for block in section(replace(both, arithmetic=(unknown, busy))).blocks if isinstance(block, Table)]
    assert [table.caption for table in tables] == ["Wall time and arithmetic of GPU 1"]


def test_missing_gpu_work_leaves_overhead_without_a_lower_bound() -> None:
    measured = [
        row[3] for table in section(with_run(incomplete())).blocks if isinstance(table, Table) for row in table.rows
    ]
    assert measured == [AtLeast(300), None]
    said = words(with_run(incomplete()))
    assert "the GPU worked for ≥ 300 ns (measured)" in said
    assert "overhead is ≤ 990 ns" in said


def test_what_nvidia_smi_would_have_said_stands_beside_the_traces_own_ratio() -> None:
    said = nvidia_smi(NvmlSummary(7, 1, 0.95, 12.5, 2, 3.25), usual())
    assert said == (
        "nvidia-smi would have said 95.0 % (mean of 7 samples); kernel_active_ratio 51.6 %. "
        "Energy per epoch: 3.2 J (mean of 2)."
    )
    assert nvidia_smi(NvmlSummary(0, 0, None, None, 0, None), usual()) is None
    bounded = nvidia_smi(NvmlSummary(7, 1, 0.95, 12.5, 2, 3.25), incomplete())
    assert bounded is not None
    assert "kernel_active_ratio ≥ " in bounded


def test_without_flops_or_manifest_there_is_no_such_section() -> None:
    assert arithmetic(usual(), 20) is None
    assert run(usual(), 20) is None


def test_the_run_names_program_data_and_machine() -> None:
    found = run(trained(), 20)
    assert found is not None
    (block,) = found.blocks
    assert isinstance(block, Facts)
    facts = {fact.title: fact.value for fact in block.facts}
    assert facts["Workload"] == "numpy"
    assert facts["Data"] == "numpy (python), 48,000 to train on, 12,000 to validate with"
    assert facts["Steps per epoch"] == "2 training, 1 validation"
    assert facts["Epochs by the program's own clock"] == "2, mean 450 ns, 400 ns to 500 ns"


def test_without_arithmetic_what_nvidia_smi_said_stands_with_the_run() -> None:
    found = run(replace(trained(), arithmetic=None), 20)
    assert found is not None
    assert isinstance(found.blocks[-1], Paragraph)
    assert found.blocks[-1].text.startswith("nvidia-smi would have said 95.0 %")


def test_the_document_holds_the_manifest_as_its_own_schema_has_it() -> None:
    found = json.loads(text(document([trained()])))["traces"][0]
    Draft202012Validator(json.loads(MANIFEST.read_text(encoding="utf-8"))).validate(found["run"])
    assert found["arithmetic"]["ledgers"][0]["works"][0]["per"] == "window"
    assert found["perturbation"]["verdict"] == "perturbed"
    assert found["nvml"]["gpu_ratio"] == 0.95


def test_a_report_of_a_run_has_its_figure_in_words() -> None:
    assert "window: wall time 3.361 s, GPU work, measured 1.734 s" in markdown(report(trained()), "run")


@pytest.mark.parametrize("count", [8, 9])
def test_of_many_ledgers_the_first_eight_are_shown_and_the_rest_is_said_to_be_left_out(count: int) -> None:
    found = with_run(analysis(*(ledger(device, gpu_kernel=80, host=15) for device in range(count))))
    sentence = Paragraph("The first 8 of 9 ledgers; the JSON output has all.", essential=True)
    for make in (arithmetic, the_ledger):
        shown = make(found, 20)
        assert shown is not None
        assert sum(isinstance(block, Table) for block in shown.blocks) == 8
        told = [block for block in shown.blocks if isinstance(block, Paragraph) and block.text.startswith("The first")]
        assert told == ([sentence] if count == 9 else [])


def test_where_no_process_has_flops_all_are_shown() -> None:
    both = with_run(two_gpus())
    assert both.arithmetic is not None
    unknown = tuple(
        replace(one, works=(replace(one.works[0], flops=None, modelled_ns=None),)) for one in both.arithmetic
    )
    assert words(replace(both, arithmetic=unknown)).count("(measured). So overhead is ≥") == 2


def test_an_overhead_known_from_one_side_only_has_its_sign_before_both_figures() -> None:
    found = with_run(usual())
    assert found.arithmetic is not None
    (one,) = found.arithmetic
    least = replace(found, arithmetic=(replace(one, works=(replace(one.works[0], modelled_ns=None),)),))
    assert "overhead is ≥ 1.627 s (≥ 48.4 % of wall)" in words(least)
    most = replace(found, arithmetic=(replace(one, works=(replace(one.works[0], measured_at_most_ns=None),)),))
    assert "overhead is ≤ 3.327 s (≤ 99.0 % of wall)" in words(most)
    neither = replace(one.works[0], modelled_ns=None, measured_at_most_ns=None)
    nothing = words(replace(found, arithmetic=(replace(one, works=(neither,)),)))
    assert "Arithmetic is not known, nor how much is overhead." in nothing


def test_graphs_recorded_whole_are_told_apart_from_kernels_only_where_there_are_any() -> None:
    assert "graphs recorded as a whole" not in words(trained())
    found = with_run(analysis(ledger(gpu_kernel=40, gpu_graph=30, host=30)))
    assert "Of the GPU work, 40 ns are kernels, the rest are graphs recorded as a whole." in words(found)


def test_what_nvidia_smi_said_of_several_gpus_and_of_one_sample() -> None:
    of_two = nvidia_smi(NvmlSummary(1, 2, 0.5, 4.0, 0, None), two_gpus())
    assert of_two == (
        "nvidia-smi would have said 50.0 % (mean of 1 sample of 2 GPUs); kernel_active_ratio 80.0 %. "
        "Energy in the window: 4.0 J."
    )
    on_cpu = nvidia_smi(NvmlSummary(2, 1, 0.5, None, 0, None), cpu_run())
    assert on_cpu == "nvidia-smi would have said 50.0 % (mean of 2 samples)."
