"""Promises of the fitted lines: the line that made the points is found, and its errors are those of the textbook."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit_study.fitting import line

coefficients = st.floats(0, 1e9)


@given(floor=coefficients, per=coefficients, relative=st.booleans())
def test_points_on_a_line_give_that_line_and_no_error(floor: float, per: float, relative: bool) -> None:
    xs = [0, 15, 59, 375, 1_500, 6_000]
    ys = [floor + per * x + 1 for x in xs]
    found = line(xs, ys, relative=relative)
    assert found is not None
    assert found.floor == pytest.approx(floor + 1, rel=1e-6, abs=1e-6 * ys[-1])
    assert found.per == pytest.approx(per, rel=1e-6, abs=1e-6 * ys[-1])
    assert found.per_error == pytest.approx(0, abs=1e-6 * ys[-1])


def test_the_errors_are_those_of_polyfit() -> None:
    generator = np.random.default_rng(0)
    xs = np.repeat([10.0, 20, 100, 200, 2_000, 20_000], 3)
    ys = 5e9 + 8_000 * xs + generator.normal(0, 1e8, len(xs))
    (per, floor), covariance = np.polyfit(xs, ys, 1, cov=True)
    found = line(xs.tolist(), ys.tolist())
    assert found is not None
    assert (found.floor, found.per) == pytest.approx((floor, per))
    assert (found.per_error, found.floor_error) == pytest.approx(tuple(np.sqrt(np.diag(covariance))))


def test_by_relative_errors_a_short_time_counts_as_much_as_a_long_one() -> None:
    xs, ys = [15, 60, 240, 1_500, 6_000], [1.1, 1.3, 2.2, 8.5, 61.0]  # 1 + x ÷ 200, the longest half too long
    plain, relative = line(xs, ys), line(xs, ys, relative=True)
    assert plain is not None
    assert relative is not None
    assert abs(relative.floor - 1) < 0.2 < abs(plain.floor - 1)


def test_two_points_give_a_line_without_errors_and_one_gives_none() -> None:
    found = line([0, 10], [5, 25])
    assert found is not None
    assert (found.floor, found.per) == pytest.approx((5, 2))
    assert found.per_error is found.floor_error is None
    assert line([7, 7], [1, 2]) is None
    assert line([1, 2], [0, 1], relative=True) is None
