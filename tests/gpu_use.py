"""What the tests of GPU use share: the only ledger of a model, and its figures."""

import polars as pl

from wallsplit.intervals import Times
from wallsplit.ledger.activity import Activity, activities
from wallsplit.ledger.host import host_timelines
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.pieces import Pieces, pieces
from wallsplit.ledger.windows import default_window
from wallsplit.model import Model


def only_activity(model: Model) -> Activity:
    (activity,) = activities(model)
    return activity


def whole(model: Model) -> Window:
    window = default_window(model)
    assert window is not None
    return window


def cut(model: Model, activity: Activity, window: Window) -> Pieces:
    """Return the pieces of a window."""
    (host,) = host_timelines(model, [activity])
    return pieces(activity, host, window)


def no_phase(times: Times) -> pl.Series:
    return pl.Series([None] * len(times), dtype=pl.String)
