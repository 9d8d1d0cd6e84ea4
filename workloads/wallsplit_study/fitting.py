"""A line through measured times: what is paid anyway, and what each further step or call adds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Line:
    """y = floor + per · x; the errors are standard errors, None where two places leave nothing to judge them by."""

    floor: float
    per: float
    floor_error: float | None
    per_error: float | None


def line(xs: Sequence[float], ys: Sequence[float], *, relative: bool = False) -> Line | None:
    """Return the line of least squares through the points; None with fewer than two different xs.

    `relative` weighs each point by 1 ÷ y², as if all ys were equally wrong in proportion: times over several decades,
    where the long ones would otherwise decide alone. Errors are estimated from the residuals with n − 2 degrees of
    freedom (Draper and Smith, Applied Regression Analysis, 3rd ed., §1.4 and §9.2).
    """
    if len(set(xs)) < 2 or (relative and min(ys) <= 0):
        return None
    x, y = np.asarray(xs, np.float64), np.asarray(ys, np.float64)
    root = 1 / y if relative else np.ones_like(y)  # of the weights
    scale = max(float(np.abs(x).max()), 1.0)  # so that both columns are of one size
    design = np.column_stack([np.ones_like(x), x / scale]) * root[:, None]
    (floor, per), *_ = np.linalg.lstsq(design, y * root, rcond=None)
    if len(x) < 3:
        return Line(float(floor), float(per / scale), None, None)
    residual = y * root - design @ np.array([floor, per])
    variance = float(residual @ residual) / (len(x) - 2) * np.linalg.inv(design.T @ design)
    floor_error, per_error = np.sqrt(np.maximum(np.diag(variance), 0))
    return Line(float(floor), float(per / scale), float(floor_error), float(per_error / scale))
