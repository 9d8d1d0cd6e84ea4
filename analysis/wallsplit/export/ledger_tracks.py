"""The ledger of each device, why it is so, and its steps, as tracks that add up to it."""

from collections.abc import Iterator

import numpy as np

from wallsplit.accounts import ACCOUNTS, HOST
from wallsplit.errors import LedgerError
from wallsplit.export.slices import Process, Slices, Track
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.booking import book
from wallsplit.ledger.host import HostTimelines
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.pieces import pieces
from wallsplit.ledger.timeline import account_codes, clipped, summed
from wallsplit.model import Model
from wallsplit.why.causes import CAUSES, cause_timeline
from wallsplit.why.steps import steps

GROUP = "Ledger"


def ledger_tracks(
    model: Model, activity: Activity, host: HostTimelines, window: Window, process: Process
) -> Iterator[Track]:
    """Yield the tracks of one activity in a window: its accounts and, where there are any, causes and steps.

    Raises:
        LedgerError: the accounts' slices do not add up to the ledger.
    """
    of = "" if activity.gpu is None else f", GPU {activity.gpu}"
    yield Track(process, GROUP, f"ledger{of}", account_slices(activity, window))
    if activity.device is not None:
        causes = cause_timeline(pieces(activity, host, window), activity, model.names)
        yield Track(process, GROUP, f"causes{of}", _runs(causes.times, causes.codes.astype(np.int64), CAUSES))
    found = steps(model, activity, window)
    if found.count:
        roles = [kind.role or "step" for kind in found.kinds or ()]
        kind = found.rows["kind"].to_list()
        names = [f"{roles[k] if k < len(roles) else 'step'} {number}" for number, k in enumerate(kind, 1)]
        start, end = found.rows["start"].to_numpy(), found.rows["end"].to_numpy()
        yield Track(process, GROUP, f"steps{of}", Slices(start, end, np.arange(found.count), names))


def account_slices(activity: Activity, window: Window) -> Slices:
    """Return a slice for each maximal stretch of the window that is booked to one account.

    Raises:
        LedgerError: they do not add up to the ledger.
    """
    if activity.layers is None:
        times, codes = np.array([window.start_ns, window.end_ns]), np.array([ACCOUNTS.index(HOST)])
    else:
        part = clipped(activity.timeline, window.start_ns, window.end_ns)
        times, codes = part.times, account_codes(part.active).astype(np.int64)
    slices = _runs(times, codes, ACCOUNTS)
    shown = summed(slices.name, slices.end - slices.start, len(ACCOUNTS)).tolist()
    (ledger,) = book(activity, [window])
    if shown != [ledger.accounts[account] or 0 for account in ACCOUNTS]:
        raise LedgerError(
            f"track of process {activity.pid}, device {activity.device}: its slices do not add up to the ledger; "
            "this is a defect of wallsplit, please report it"
        )
    return slices


def _runs(times: np.ndarray, codes: np.ndarray, names: tuple[str, ...]) -> Slices:
    """Return a slice for each maximal run of equal codes; `codes[i]` holds on `[times[i], times[i + 1])`."""
    first = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])[: len(codes)])
    bounds = np.append(times[:-1][first], times[-1:])
    return Slices(bounds[:-1], bounds[1:], codes[first], names)
