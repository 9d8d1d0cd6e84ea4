"""The ledger: every nanosecond of a window booked once, per process and device (docs/ledger.md is normative).

`book` cuts an activity's timeline at the windows' ends and gives each instant to the first account that is active.
`check` refuses a ledger that does not add up; it runs on every ledger.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from wallsplit.accounts import ACCOUNTS, API_ACCOUNTS, GPU_ACCOUNTS, HOST, LAYERS
from wallsplit.errors import LedgerError
from wallsplit.intervals import clip, total_ns
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Exposure, Ledger, Window
from wallsplit.ledger.timeline import Masks, account_codes, booked_in, distinct, mask

COMPLETE = 0.99
"""From this share of covered launches, or kernels, on, a ledger counts as complete (docs/ledger.md, Completeness)."""


def book(activity: Activity, windows: Sequence[Window]) -> tuple[Ledger, ...]:
    """Return the ledger of an activity in each window, in their order; of several, each carries its own window.

    Raises:
        LedgerError: a ledger does not add up.
    """
    own = len(windows) > 1
    if activity.layers is None:
        return tuple(_host_only(activity, window, window if own else None) for window in windows)
    kinds, codes = distinct(activity.timeline.active)
    ends = [(window.start_ns, window.end_ns) for window in windows]
    times = booked_in(activity.timeline.times, codes, len(kinds), ends, outside=0)  # set 0: no layer
    return tuple(
        _ledger(activity, window, window if own else None, kinds, row)
        for window, row in zip(windows, times, strict=True)
    )


def _ledger(
    activity: Activity, window: Window, carried: Window | None, kinds: Masks, times: npt.NDArray[np.int64]
) -> Ledger:
    per_account = np.zeros(len(ACCOUNTS), np.int64)
    np.add.at(per_account, account_codes(kinds), times)
    ledger = Ledger(
        pid=activity.pid,
        device=activity.device,
        gpu=activity.gpu,
        wall_ns=window.wall_ns,
        accounts=dict(zip(ACCOUNTS, map(int, per_account), strict=True)),
        gpu_busy_ns=_active(kinds, times, mask(*GPU_ACCOUNTS)),
        kernel_active_ns=_active(kinds, times, mask("gpu.kernel", "gpu.graph", "gpu.comm")),
        gpu_complete=_complete(activity.launch_coverage),
        launch_coverage=activity.launch_coverage,
        api_complete=_complete(activity.api_coverage),
        api_coverage=activity.api_coverage,
        api_exposure=dict(_exposure(kinds, times)),
        window=carried,
    )
    check(ledger, total_ns(clip(activity.busy, window.start_ns, window.end_ns)))
    return ledger


def _host_only(activity: Activity, window: Window, carried: Window | None) -> Ledger:
    nothing: dict[str, int | None] = dict.fromkeys(LAYERS)
    return Ledger(
        pid=activity.pid,
        device=None,
        gpu=None,
        wall_ns=window.wall_ns,
        accounts={**nothing, HOST: window.wall_ns},
        gpu_busy_ns=None,
        kernel_active_ns=None,
        gpu_complete=None,
        launch_coverage=None,
        api_complete=None,
        api_coverage=None,
        api_exposure={},
        window=carried,
    )


def check(ledger: Ledger, busy_ns: int) -> None:
    """Raise LedgerError unless the ledger adds up.

    The accounts sum to the window, none is negative, and those of the GPU sum to `busy_ns`, which is the union of its
    rows taken another way than by layers.
    """
    gpu_ns = sum(ledger.accounts[name] or 0 for name in GPU_ACCOUNTS)
    if ledger.residual_ns or any((value or 0) < 0 for value in ledger.accounts.values()):
        wrong = f"the accounts miss the window of {ledger.wall_ns} ns by {ledger.residual_ns} ns"
    elif gpu_ns != busy_ns:
        wrong = f"the GPU's accounts hold {gpu_ns} ns, its rows {busy_ns} ns"
    else:
        return
    raise LedgerError(
        f"ledger of process {ledger.pid}, device {ledger.device}: {wrong}; this is a defect of wallsplit, please "
        "report it"
    )


def _exposure(kinds: Masks, times: npt.NDArray[np.int64]) -> Iterator[tuple[str, Exposure]]:
    on_gpu = (kinds & np.uint32(mask(*GPU_ACCOUNTS))) != 0
    for name in API_ACCOUNTS:
        inside = (kinds & np.uint32(mask(name))) != 0
        hidden, exposed = int(times[inside & on_gpu].sum()), int(times[inside & ~on_gpu].sum())
        if hidden or exposed:
            yield name, Exposure(hidden + exposed, hidden, exposed)


def _active(kinds: Masks, times: npt.NDArray[np.int64], wanted: int) -> int:
    return int(times[(kinds & np.uint32(wanted)) != 0].sum())


def _complete(coverage: float | None) -> bool:
    return coverage is None or coverage >= COMPLETE
