"""The ledger: every nanosecond of a window booked once, per process and device (docs/ledger.md is normative).

`book` clips an activity to a window, sweeps once over all its edges, and gives each instant to the first account
that is active. `check` refuses a ledger that does not add up; it runs on every ledger.
"""

from wallsplit.accounts import ACCOUNTS, API_ACCOUNTS, GPU_ACCOUNTS, HOST, LAYERS
from wallsplit.errors import LedgerError
from wallsplit.intervals import sweep
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Exposure, Ledger, Window

COMPLETE = 0.99
"""From this share of covered launches, or kernels, on, a ledger counts as complete (docs/ledger.md, Completeness)."""


def book(activity: Activity, window: Window, *, own_window: bool = False) -> Ledger:
    """Return the ledger of an activity in a window. `own_window`: the ledger carries the window itself.

    Raises:
        LedgerError: the accounts do not sum to the window.
    """
    carried = window if own_window else None
    if activity.layers is None:
        nothing: dict[str, int | None] = dict.fromkeys(LAYERS)
        return Ledger(
            pid=activity.pid,
            device=None,
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
    together = sweep(activity.layers, window.start_ns, window.end_ns)
    ledger = Ledger(
        pid=activity.pid,
        device=activity.device,
        wall_ns=window.wall_ns,
        accounts=_accounts(together),
        gpu_busy_ns=_active(together, _mask(*GPU_ACCOUNTS)),
        kernel_active_ns=_active(together, _mask("gpu.kernel", "gpu.graph", "gpu.comm")),
        gpu_complete=_complete(activity.launch_coverage),
        launch_coverage=activity.launch_coverage,
        api_complete=_complete(activity.api_coverage),
        api_coverage=activity.api_coverage,
        api_exposure=_exposure(together),
        window=carried,
    )
    check(ledger)
    return ledger


def check(ledger: Ledger) -> None:
    """Return if the accounts sum to the window and none is negative.

    Raises:
        LedgerError: they do not; the message is a request to report it.
    """
    if ledger.residual_ns or any((value or 0) < 0 for value in ledger.accounts.values()):
        raise LedgerError(
            f"ledger of process {ledger.pid}, device {ledger.device}: the accounts miss the window of "
            f"{ledger.wall_ns} ns by {ledger.residual_ns} ns; this is a defect of wallsplit, please report it"
        )


def _accounts(together: dict[int, int]) -> dict[str, int | None]:
    accounts = dict.fromkeys(ACCOUNTS, 0)
    for mask, ns in together.items():
        first = (mask & -mask).bit_length() - 1  # -1, the last account, where nothing is active
        accounts[ACCOUNTS[first]] += ns
    return dict(accounts)


def _exposure(together: dict[int, int]) -> dict[str, Exposure]:
    gpu = _mask(*GPU_ACCOUNTS)
    result = {}
    for name in API_ACCOUNTS:
        bit = _mask(name)
        whole = _active(together, bit)
        exposed = sum(ns for mask, ns in together.items() if mask & bit and not mask & gpu)
        if whole:
            result[name] = Exposure(whole, whole - exposed, exposed)
    return result


def _mask(*accounts: str) -> int:
    return sum(1 << LAYERS.index(name) for name in accounts)


def _active(together: dict[int, int], bits: int) -> int:
    return sum(ns for mask, ns in together.items() if mask & bits)


def _complete(coverage: float | None) -> bool:
    return coverage is None or coverage >= COMPLETE
