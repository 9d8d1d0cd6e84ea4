"""What the main thread of a run without CUDA executed when, as far as its samples tell: estimates, for pictures."""

import numpy as np

from wallsplit.ledger.activity import Activity
from wallsplit.ledger.labels import Labels, paint
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.why.samples.sampling import Sampling
from wallsplit.why.samples.scopes import scopes
from wallsplit.why.samples.summaries import ENOUGH


def executed(sampling: Sampling | None, model: Model, activity: Activity, window: Window) -> Labels | None:
    """Return the class, a position in NAMES of classes.py, of the code that the main thread executed at every instant.

    A sample tells of the CPU time it stands for, which is the time just before it, back to the sample before at most.
    None with CUDA rows, which tell more; with samples that are too few for shares, or that stand for no time.
    """
    if sampling is None or activity.rows is not None or sampling.weighing.source is None:
        return None
    scope = scopes(sampling, model, activity, window)
    rows = scope.in_window[scope.is_main] if scope else np.empty(0, np.intp)
    if len(rows) < ENOUGH:
        return None
    end = sampling.start[rows]
    start = end - sampling.weighing.ns[rows].round().astype(np.int64)
    start[1:] = np.maximum(start[1:], end[:-1])
    return paint(start, end, sampling.code[rows].astype(np.int32))
