"""The sections that explain a ledger: what they say, and that they are absent where there is nothing to say."""

from dataclasses import replace

from analyses import analysis, explained_cpu, explained_gpus, explained_run, ledger, two_gpus, usual
from explanations import explained, explanation, without_device
from wallsplit.analysis import Analysis
from wallsplit.diagnosis.explanation import Explained
from wallsplit.report.build import report
from wallsplit.report.document import AtLeast, AtMost, Paragraph, Section, Table
from wallsplit.words.titles import TITLES

KEYS = ("findings", "steps", "idle", "gpu_use", "waiting", "launching", "communication")


def section(found: Analysis, key: str) -> Section:
    return next(one for one in report(found).sections if one.key == key)


def tables(found: Analysis, key: str) -> list[Table]:
    return [block for block in section(found, key).blocks if isinstance(block, Table)]


def said(found: Analysis, key: str) -> str:
    return " ".join(block.text for block in section(found, key).blocks if isinstance(block, Paragraph))


def changed(**fields: object) -> Analysis:
    """Return the explained run with other values in its explanation."""
    found = explained_run()
    (why,) = found.explained.ledgers if found.explained else ()
    return replace(found, explained=Explained((replace(why, **fields),)))  # type: ignore[arg-type]


def test_nothing_is_said_where_nothing_was_explained() -> None:
    assert not {one.key for one in report(usual()).sections} & set(KEYS)


def test_a_program_on_the_cpu_has_steps_and_findings_to_speak_of_and_no_gpu() -> None:
    keys = {one.key for one in report(explained_cpu()).sections}
    assert keys & set(KEYS) == {"findings", "steps"}
    assert "no steps, as fewer than 6 launches" in said(explained_cpu(), "steps")


def test_the_findings_come_before_the_ledger_with_what_each_wins_at_most() -> None:
    keys = [one.key for one in report(explained_run()).sections]
    assert keys.index("findings") < keys.index("ledger")
    found = tables(explained_run(), "findings")[0]
    launch = next(row for row in found.rows if row[0] == TITLES["launch"])
    assert launch[1:3] == (AtMost(336_100_000), AtMost(0.1))
    assert "CUDA graph" in str(launch[3])
    assert "torch.compile" in str(launch[4])  # the remedy of the framework that was found


def test_once_steady_and_rest_add_up_to_the_ledger() -> None:
    rows = tables(explained_run(), "findings")[1].rows
    assert rows[-1][0] == "wall time"
    for row in rows:
        times = [cell for cell in row[1:] if isinstance(cell, int)]
        assert sum(times[:-1]) == times[-1]
    assert rows[-1][-1] == usual().ledgers[0].wall_ns


def test_a_ledger_that_says_nothing_gets_a_reason_instead_of_a_table() -> None:
    assert "process 200: no GPU work was recorded, and cudaMalloc failed" in said(explained_gpus(), "findings")
    assert all("process 200" not in table.caption for table in tables(explained_gpus(), "findings"))


def test_how_steps_were_found_is_said() -> None:
    assert "They are marked" in said(explained_run(), "steps")
    (why,) = explained_run().explained.ledgers  # type: ignore[union-attr]
    by_period = changed(steps=replace(why.steps, source="cycle", boundary="gpu"))
    assert "No range marks them" in said(by_period, "steps")
    assert "first operation on the GPU" in said(by_period, "steps")


def test_steps_that_stalled_are_counted_with_what_they_cost() -> None:
    (why,) = explained_run().explained.ledgers  # type: ignore[union-attr]
    assert why.steps.kinds is not None
    kind = replace(why.steps.kinds[0], total_ns=10_000_000, steady_count=40, stalled_count=2, stalled_ns=1_500_000.0)
    told = said(changed(steps=replace(why.steps, kinds=(kind,))), "steps")
    assert "2 of 40 steady steps took over 5 times the median, 1.50 ms more together, 15.0 % of all" in told
    assert "Stalled" not in said(explained_run(), "steps")


def test_only_steps_slower_than_usual_are_called_slow() -> None:
    (why,) = explained_run().explained.ledgers  # type: ignore[union-attr]
    assert any("Slowest" in table.caption for table in tables(explained_run(), "steps"))
    alike = replace(why.steps, slowest=tuple(replace(step, ns=1) for step in why.steps.slowest or ()))
    assert not any("Slowest" in table.caption for table in tables(changed(steps=alike), "steps"))


def test_causes_of_the_window_add_up_to_it() -> None:
    causes = tables(explained_run(), "idle")[0]
    assert sum(row[1] for row in causes.rows if isinstance(row[1], int)) == usual().ledgers[0].wall_ns


def test_a_long_gap_says_what_the_host_did() -> None:
    gaps = tables(explained_run(), "idle")[1]
    assert gaps.rows[0][3] == "name 1.00 µs, setup 500 ns" or str(gaps.rows[0][3]).startswith("name 1.50 µs")


def test_the_length_of_gaps_is_written_as_people_write_it() -> None:
    assert tables(explained_run(), "idle")[2].rows[0][0] == "100 ms – 1 s"


def test_coverage_is_a_lower_bound_where_graphs_hide_what_runs() -> None:
    use = {row[0]: row[1] for row in tables(explained_run(), "gpu_use")[0].rows}
    assert use["SM coverage"] == AtLeast(0.02)
    assert use["SM coverage, at most"] == 0.03
    assert use["kernels active"] == 0.99


def test_the_counters_of_the_gpu_stand_beside_what_is_modelled() -> None:
    counters = {row[0]: row[1] for row in tables(explained_run(), "gpu_use")[1].rows}
    assert counters["SMs active"] == 0.01
    assert counters["tensor cores active"] is None  # not sampled


def test_small_reads_cost_the_idle_time_after_them_and_nothing_else() -> None:
    text = said(explained_run(), "waiting")
    assert "The GPU is idle after them for 200 ns" in text
    assert "only that is lost" in text


def test_a_full_queue_is_no_loss() -> None:
    assert "costs nothing by itself" in said(explained_run(), "launching")


def test_an_empty_queue_is_at_most_so_long_where_calls_are_missing() -> None:
    (whole,) = usual().ledgers
    late = explained(analysis(replace(whole, api_complete=False, api_coverage=0.5)))
    depth = {row[0]: row[1] for row in tables(late, "launching")[1].rows}
    assert isinstance(depth["nothing"], AtMost)
    assert isinstance(depth["32 and more"], AtLeast)


def test_the_rank_that_waits_is_told_from_the_one_that_is_waited_for() -> None:
    rows = tables(explained_gpus(), "communication")[0].rows
    assert [row[0] for row in rows] == ["GPU 0", "GPU 1"]
    assert [row[-1] for row in rows] == [7, 7]
    assert "31 collectives are matched between the ranks; 2 that do not overlap are left out" in said(
        explained_gpus(), "communication"
    )


def test_memory_tells_the_high_water_mark_and_what_steps_leave_behind() -> None:
    held = next(table for table in tables(explained_run(), "memory") if "held" in table.caption)
    assert held.rows[0][1:3] == (3_000, 20)
    assert held.rows[0][-1] == 12.5


def test_many_ledgers_are_cut_for_people_and_it_is_said() -> None:
    many = explained(analysis(*(ledger(device, gpu_kernel=600, host=400) for device in range(40))))
    assert len([t for t in tables(many, "findings") if t.caption.startswith("Findings on")]) == 8
    assert "The first 8 of 40 ledgers" in said(many, "findings")


def test_several_ledgers_are_told_apart() -> None:
    assert [t.caption for t in tables(explained(two_gpus()), "gpu_use")][:1] == ["Use of GPU 0, by the kernels' grids"]


def test_a_ledger_without_a_device_has_no_use_of_the_gpu() -> None:
    silent = ledger(None, complete=False, cuda_launch=30, host=70)
    found = replace(analysis(silent), explained=Explained((without_device(silent),)))
    assert "gpu_use" not in {one.key for one in report(found).sections}
    assert explanation(usual().ledgers[0]).sm is not None
