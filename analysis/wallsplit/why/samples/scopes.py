"""Which samples a ledger's figures are taken from, and whose."""

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.accounts import ACCOUNTS, HOST, LAYERS
from wallsplit.frozen import dataclass
from wallsplit.intervals import Intervals, Times, gaps, holding
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.timeline import account_codes, mask, where
from wallsplit.model import Model
from wallsplit.why.samples.sampling import Sampling

TID_BITS = 0xFFFFFF


@dataclass(frozen=True)
class Scopes:
    """The samples of one process: positions of samples in the order of time, by whose they are and when."""

    driving: frozenset[int]
    main: int | None  # the thread the headline is about
    host: Intervals  # instants of the window that the ledger books as host
    in_window: npt.NDArray[np.intp]
    in_host: npt.NDArray[np.bool_]  # of `in_window`
    is_main: npt.NDArray[np.bool_]
    is_driving: npt.NDArray[np.bool_]


def scopes(sampling: Sampling, model: Model, activity: Activity, window: Window) -> Scopes | None:
    """Return the samples of a ledger; None where its process has none.

    In a run without CUDA, processes beside the program that were never seen on a CPU in the window have none either.
    """
    mine = np.flatnonzero(sampling.pid == activity.pid)
    if not len(mine):
        return None
    start = sampling.start[mine]
    in_window = mine[(start >= window.start_ns) & (start < window.end_ns)]
    has_cuda = activity.layers is not None
    if not has_cuda and not len(in_window) and (sampling.pid != activity.pid).any():
        return None
    driving = frozenset(activity.driving.tolist()) if has_cuda else _every_thread(sampling, activity.pid)
    main = _main_thread(sampling, model, activity, driving)
    host = gaps(where(activity.timeline, mask(*LAYERS)), window.start_ns, window.end_ns)
    thread = sampling.thread[in_window]
    return Scopes(
        driving=driving,
        main=main,
        host=host,
        in_window=in_window,
        in_host=holding(host, sampling.start[in_window]) >= 0,
        is_main=thread == (-1 if main is None else main),
        is_driving=np.isin(thread, np.array(sorted(driving), np.int64)),
    )


def _every_thread(sampling: Sampling, pid: int) -> frozenset[int]:
    """Return the threads of a process that never called CUDA: all that were sampled or scheduled."""
    sampled = np.unique(sampling.thread[sampling.pid == pid]).tolist()
    return frozenset({*sampled, *(thread for thread in sampling.running if pid_of(thread) == pid)})


def pid_of(thread: int) -> int:
    """Return the process id in a full thread id."""
    return thread >> 24 & 0xFFFFFF


def _main_thread(sampling: Sampling, model: Model, activity: Activity, driving: frozenset[int]) -> int | None:
    """Return the driving thread with most API calls; without CUDA, with most time in ranges, or without, most samples.

    Ties: more samples, then the process's first thread, then the smaller id.
    """
    samples = _times_seen(sampling.thread)
    if activity.rows is not None:
        first = dict(activity.rows.calls.group_by("thread").len().iter_rows())
    else:
        ranges = own_ranges(model, driving).with_columns(ns=pl.col("end") - pl.col("start"))
        first = dict(ranges.group_by("thread").agg(pl.col("ns").sum()).iter_rows()) or samples
    ranked = sorted(
        driving,
        key=lambda t: (-first.get(t, 0), -samples.get(t, 0), t & TID_BITS != activity.pid, t),
    )
    return ranked[0] if ranked else None


def _times_seen(thread: Times) -> dict[int, int]:
    return dict(zip(*(each.tolist() for each in np.unique(thread, return_counts=True)), strict=True))


def own_ranges(model: Model, threads: frozenset[int]) -> pl.DataFrame:
    """Return the ranges of the default domain on these threads."""
    wanted = pl.Series(sorted(threads), dtype=pl.Int64)
    return model.annotations.where(pl.col("is_default_domain"), pl.col("thread").is_in(wanted.implode())).frame


def accounts_at(activity: Activity, times: Times) -> npt.NDArray[np.uint8]:
    """Return the position in ACCOUNTS of the account that each instant is booked to."""
    line = activity.timeline
    codes = np.append(account_codes(line.active), np.uint8(ACCOUNTS.index(HOST)))
    position = np.searchsorted(line.times, times, side="right") - 1  # -1, the last, before the first time
    return codes[position] if len(line.times) else np.full(len(times), codes[-1])
