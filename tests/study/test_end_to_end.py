"""From process start to target: parts that add up, planted by hand, and the product that would have predicted it."""

from dataclasses import replace

from studies import IDENTITY, cell, run
from wallsplit.report.document import Table
from wallsplit.run.manifest import Arithmetic
from wallsplit_study.cells import Outcome, measured
from wallsplit_study.end_to_end import end_to_end, predicted_ns, way_of

BEFORE = {"start": 100, "imports": 30, "data": 20, "compilation": 7}


def outcome(*epochs_ns: int, before: dict[str, int] = BEFORE, repeat: int = 1, batch: int = 32) -> Outcome:
    """Return a run of the grid; accuracies are 0.5, 0.75, 0.875 …; 1 ns passes outside of preparation and epochs."""
    inside = sum(before.values()) - before.get("start", 0)
    one = replace(
        run(*epochs_ns, parameters={"batch": batch}),
        wall_ns=sum(epochs_ns) + inside + 1,
        preparation_ns=before,
        arithmetic=Arithmetic("f", flops_per_epoch=1_000),
    )
    return measured(cell("numpy", repeat, batch=str(batch)), IDENTITY, one)


def product(library: str, wall_ns: int, flops: int) -> Outcome:
    one = replace(run(1), step_wall_ns=(wall_ns,), arithmetic=Arithmetic("f", flops_per_step=flops))
    return measured(cell(library, 1, "ops", "matmul"), IDENTITY, one)


def row(*outcomes: Outcome) -> dict[str, object]:
    section = end_to_end(outcomes)
    assert section is not None
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert len(table.rows) == 1
    return dict(zip((column.title for column in table.columns), table.rows[0], strict=True))


def test_the_parts_add_up_to_the_time_from_start_to_target() -> None:
    """The third of four epochs reaches it; the first takes 50 more than the others, which is compilation."""
    found = row(outcome(60, 10, 10, 10))
    parts = [found[name] for name in ("start", "imports", "data", "compilation", "their time", "rest")]
    assert parts == [100, 30, 20, 7 + 50, 30, 1]
    assert found["in all"] == sum(part for part in parts if isinstance(part, int)) == 238
    assert (found["epochs"], found["target"]) == (3, "reached")


def test_where_the_target_is_not_reached_the_way_goes_to_the_end_and_says_so() -> None:
    found = row(outcome(10, 10))
    assert (found["epochs"], found["their time"], found["target"]) == (2, 20, "not reached")


def test_of_a_single_epoch_nothing_is_taken_for_compilation() -> None:
    found = row(outcome(60, before={"start": 100}))
    assert (found["compilation"], found["their time"], found["imports"]) == (0, 60, None)


def test_of_the_repeats_the_one_with_the_median_total_is_shown() -> None:
    repeats = [outcome(wall, wall, repeat=n) for n, wall in enumerate((30, 10, 20), 1)]
    assert row(*repeats)["their time"] == 40


def test_a_product_alone_predicts_by_operations() -> None:
    """Three epochs of 1,000 FLOP, at 2 ns for the 4 FLOP of a product: 1,500 ns."""
    found = row(outcome(60, 10, 10, 10), product("numpy", 2, 4), product("jax", 900, 4))
    assert found["predicted by a product alone"] == 1_500
    assert found["in all ÷ predicted"] == 238 / 1_500


def test_without_the_product_in_its_library_nothing_is_predicted() -> None:
    assert predicted_ns([product("jax", 2, 4)], "numpy", 1_000) is None
    assert predicted_ns([product("numpy", 2, 4)], "numpy", None) is None
    assert predicted_ns([product("numpy", 2, 4)], "numpy-sample", 1_000) is None


def test_other_batches_and_runs_that_do_not_tell_their_start_have_no_way() -> None:
    assert way_of(outcome(10, batch=128)) is None
    assert way_of(outcome(10, before={"imports": 3})) is None
    assert end_to_end([outcome(10, before={"imports": 3})]) is None
