"""The breakdown of an epoch: phases inside the steps, what is left of step and epoch, and the ledger of a GPU run."""

from pathlib import Path

import pytest

from builders import TraceBuilder
from wallsplit.report.document import Table
from wallsplit.run.manifest import Generator, RunManifest, Scalar, to_json
from wallsplit_study.breakdown import breakdown, last_epoch

SAMPLE = Path(__file__).resolve().parents[2] / "traces" / "keras-gpu.reconstructed.sqlite"


def two_epochs(path: Path) -> Path:
    build = TraceBuilder(path).range("epoch", 0, 1_000).range("step", 0, 900)
    build.range("epoch", 2_000, 3_000).range("validation", 2_800, 2_900)
    for start in (2_000, 2_400):
        build.range("step", start, start + 300).range("forward", start + 10, start + 60)
        build.range("backward", start + 60, start + 160)
    return build.write()


def test_the_phases_of_the_last_epoch_and_their_rests_add_up_to_it(tmp_path: Path) -> None:
    section = breakdown([last_epoch(two_epochs(tmp_path / "numpy.sqlite"))])
    assert section is not None
    table = section.blocks[1]
    assert isinstance(table, Table)
    named = dict(zip((column.title for column in table.columns), table.rows[0], strict=True))
    shares = {title: share for title, share in named.items() if title not in ("run", "pass", "epoch")}
    assert named["epoch"] == 1_000
    assert shares == {
        "data": None,
        "forward": 0.1,
        "metrics": None,
        "backward": 0.2,
        "update": None,
        "rest of the steps": 0.3,
        "validation": 0.1,
        "rest of the epoch": 0.3,
    }


def test_an_epoch_on_a_gpu_has_its_ledger_and_the_published_one_beside_it() -> None:
    section = breakdown([last_epoch(SAMPLE)])
    assert section is not None
    ledgers = section.blocks[2]
    assert isinstance(ledgers, Table)
    percents = [float(str(row[3])) for row in ledgers.rows]
    assert sum(percents[:-1]) == pytest.approx(100.0)
    assert percents[-1] == 41.5
    assert "published experiment" in str(ledgers.rows[-1][0])


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [({}, "as the program runs"), ({"wait_phases": True}, "each phase waited for")],
)
def test_the_table_says_which_pass_a_row_shows(parameters: dict[str, Scalar], shown: str, tmp_path: Path) -> None:
    trace = two_epochs(tmp_path / "jax-cpu.sqlite")
    manifest = RunManifest(Generator("wallsplit", "0"), workload="jax-cpu", parameters=parameters)
    (tmp_path / "jax-cpu.run.json").write_text(to_json(manifest))
    section = breakdown([last_epoch(trace)])
    assert section is not None
    table = section.blocks[1]
    assert isinstance(table, Table)
    assert table.rows[0][:2] == ("jax-cpu", shown)


def test_without_profiled_runs_there_is_no_breakdown() -> None:
    assert breakdown([]) is None
