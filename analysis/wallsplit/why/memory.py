"""How much memory of the GPU does a process hold, when most, and does it grow from step to step?"""

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.schema import MemoryEvents

ON_HOST = ("pageable", "pinned")
"""Kinds that take no memory of the GPU."""
FEWEST_STEPS = 8
"""With fewer, growth cannot be told from warming up."""
LEAKING = 0.25
"""At least this share of the later steps must add memory, and none give any back, to look like a leak."""


@dataclass(frozen=True)
class MemoryUse:
    """Memory that a process holds on a device, by what CUDA allocated and released while it was recorded.

    What it held before, and what a framework's own allocator keeps free, is not told apart.
    """

    peak_bytes: int
    peak_at_ns: int
    """When the high-water mark was reached first."""
    peak_by_kind: dict[str, int]
    """What was held then, by kind of memory."""
    end_bytes: int
    allocation_count: int
    release_count: int
    growth_per_step_bytes: float | None
    """What each step of the second half leaves behind, where that looks like a leak, else 0; None: too few steps."""


def memory_use(events: MemoryEvents, pid: int, device: int | None, step_starts: Times) -> MemoryUse | None:
    """Return the memory that a process holds on a device (None: on all); None where no allocation was recorded.

    The whole trace counts, whatever the window: what is held then was allocated before. `step_starts` ascend.
    """
    own = _changes(events, pid, device)
    if own.is_empty():
        return None
    held = np.cumsum(own["change_bytes"].to_numpy())
    top = int(held.argmax())
    by_kind = own.head(top + 1).group_by("kind").agg(pl.col("change_bytes").sum()).sort("kind")
    return MemoryUse(
        peak_bytes=int(held[top]),
        peak_at_ns=int(own["time"][top]),
        peak_by_kind={str(kind): int(part) for kind, part in by_kind.iter_rows() if part},
        end_bytes=int(held[-1]),
        allocation_count=int((~own["is_release"]).sum()),
        release_count=int(own["is_release"].sum()),
        growth_per_step_bytes=_growth(own["time"].to_numpy(), held, step_starts),
    )


def over_time(events: MemoryEvents, pid: int, device: int | None) -> pl.DataFrame:
    """Return `schema.MEMORY_USE`: what a process holds on a device (None: each), of each kind, from each change on."""
    own = _changes(events, pid, device)
    held = pl.col("change_bytes").cum_sum().over("device", "kind").alias("held_bytes")
    kind = pl.col("kind").cast(pl.String)
    every = own.select(pl.col("pid", "device").cast(pl.Int64), pl.col("time"), kind, held)
    return every.unique(["device", "time", "kind"], keep="last").sort("time", "device", "kind")


def _changes(events: MemoryEvents, pid: int, device: int | None) -> pl.DataFrame:
    """Return the events on the device in turn, with `change_bytes`, how much more is held after each.

    A release gives back what the address was allocated with; one of memory from before the recording changes nothing.
    Memory at an address that is allocated anew was released unseen.
    """
    on_device = ~pl.col("kind").is_in(list(ON_HOST))
    here = pl.lit(value=True) if device is None else pl.col("device") == device
    own = events.filter((pl.col("pid") == pid) & here & on_device)
    taken = pl.when("is_release").then(0).otherwise("bytes")
    given_back = taken.shift(1, fill_value=0).over("device", "address")
    in_turn = own.sort("time", maintain_order=True)
    return in_turn.with_columns(change_bytes=taken - given_back)


def _growth(times: Times, held: npt.NDArray[np.int64], step_starts: Times) -> float | None:
    """Return what each of the later steps leaves behind, by the least memory that is held in each step."""
    if len(step_starts) < FEWEST_STEPS:
        return None
    order = np.argsort(np.concatenate([times, step_starts]), kind="stable")  # events first where they coincide
    is_start = order >= len(times)
    before = np.cumsum(~is_start)
    levels = np.append(0, held)[before]
    least = np.minimum.reduceat(levels, np.flatnonzero(is_start))[:-1]  # the last step may not have ended
    later = np.diff(least[len(least) // 2 :])
    leaks = (later >= 0).all() and (later > 0).mean() >= LEAKING
    return float(later.mean()) if leaks else 0.0
