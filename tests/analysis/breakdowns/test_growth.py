"""Every table of the analysis, over traces made to be expensive: twice the rows are twice the work, not four times."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from adversaries import SHAPES, model_of
from growth import is_linear, peak_bytes, tells_peaks
from wallsplit.breakdowns import BREAKDOWNS, Breakdown
from wallsplit.model import Model

OfSize = Callable[[int], Model]
ROWS = 4_000
PAIRS_BYTES = 8 * ROWS * ROWS
"""What one number for each pair of two rows would take."""


@pytest.fixture(scope="module", params=SHAPES, ids=lambda shape: shape.__name__)
def of_size(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OfSize:
    """Return what gives the trace of a shape in a size, each made once."""
    folder: Path = tmp_path_factory.mktemp("grown")
    return cache(lambda size: model_of(request.param, folder, size))


@pytest.mark.parametrize("table", BREAKDOWNS, ids=lambda table: table.name)
def test_twice_the_rows_are_twice_the_lines_executed(table: Breakdown, of_size: OfSize) -> None:
    def work(size: int) -> Callable[[], object]:
        model = of_size(size)
        return lambda: table.of(model, None)

    assert is_linear(work, 48)


@pytest.mark.skipif(not tells_peaks(), reason="this system does not tell how much memory was held at most")
@pytest.mark.parametrize("table", BREAKDOWNS, ids=lambda table: table.name)
def test_no_table_holds_a_number_for_each_pair_of_rows(table: Breakdown, of_size: OfSize) -> None:
    model = of_size(ROWS)
    assert peak_bytes(lambda: table.of(model, None)) < PAIRS_BYTES // 2
