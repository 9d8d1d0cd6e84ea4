"""What traces are compared per: the run, a step, a training sample, a range of some name, a launch of some kernel."""

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.arithmetic.counting import marked
from wallsplit.errors import ComparisonError
from wallsplit.frozen import dataclass
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model
from wallsplit.run.manifest import RunManifest
from wallsplit.why.steps import Steps, steps

AUTO, RUN, STEP, SAMPLE = "auto", "run", "step", "sample"
NVTX, KERNEL = "nvtx:", "kernel:"
"""Followed by a pattern with `*`, `?` and `[…]`."""
AUTOMATIC = (SAMPLE, STEP, RUN)
"""What `auto` chooses from, the first that all traces have."""

Strides = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Units:
    """How often a trace holds the unit, and the window that holds them."""

    count: Fraction
    window: Window
    """Of steps and ranges: from the start of the first to the end of the last."""
    strides: Strides | None = None
    """ns from the start of each step to that of the next, of the last to its end: what typical steps are told from."""
    units_per_stride: Fraction = Fraction(1)
    marked: bool = True
    """Steps: the program's own ranges tell them, and not the period of what it launches."""


@dataclass(frozen=True, eq=False)
class Recording:
    """What one trace holds, and the window that is asked about."""

    model: Model
    activities: Sequence[Activity]
    window: Window
    manifest: RunManifest | None

    @property
    def compared(self) -> tuple[Activity, ...]:
        """Those with a device; where none has one, all."""
        return tuple(x for x in self.activities if x.device is not None) or tuple(self.activities)


def checked(per: str) -> str:
    """Return `per` as it is.

    Raises:
        ComparisonError: it is no unit.
    """
    if per in (AUTO, RUN, STEP, SAMPLE) or any(per.startswith(kind) and per != kind for kind in (NVTX, KERNEL)):
        return per
    raise ComparisonError(f"--per {per}: is none of auto, run, step, sample, nvtx:GLOB and kernel:GLOB")


def units(recording: Recording, per: str) -> Units | None:
    """Return the units of that kind in a trace; None where it has none."""
    if per == RUN:
        return Units(Fraction(1), recording.window)
    if per == STEP:
        return _steps(recording)
    if per == SAMPLE:
        return _samples(recording)
    if per.startswith(NVTX):
        return _ranges(recording, per)
    return _launches(recording, per.removeprefix(KERNEL))


def matching(names: Iterable[str], pattern: str) -> list[bool]:
    """Return which names match the pattern as a whole: `*`, `?` and `[…]`, case tells."""
    match = re.compile(translate(pattern)).match
    return [match(name) is not None for name in names]


def samples(manifest: RunManifest | None, epochs: int | None) -> int | None:
    """Return on how many samples the run was trained, validation apart; None where the manifest does not tell.

    An epoch has as many as its steps take, at most those there are. `epochs`: as marked, None = as in the manifest.
    """
    if manifest is None or manifest.data is None or not manifest.data.train_samples:
        return None
    count = manifest.data.train_samples
    batch = manifest.parameters.get("batch")
    if isinstance(batch, int) and batch > 0 and manifest.steps:
        count = min(count, batch * manifest.steps.train)
    return count * (epochs or len(manifest.epochs)) or None


def _steps(recording: Recording) -> Units | None:
    """Return the steps of the first process that has some, those it marks before those its launches tell.

    Where there are steps of several kinds, such as validation, they are those that train, else the most frequent.
    """
    every = [steps(recording.model, activity, recording.window) for activity in recording.compared]
    for is_wanted in (_is_marked, lambda _: True):
        for some in every:
            if some.count and is_wanted(some):
                return _of_kind(some)
    return None


def _is_marked(some: Steps) -> bool:
    return some.source == "nvtx"


def _of_kind(some: Steps) -> Units:
    kind = next((i for i, one in enumerate(some.kinds or ()) if one.role == "train"), 0)
    rows = some.rows.filter(pl.col("kind") == kind)
    starts, last_end = rows["start"].to_numpy(), int(rows["end"][-1])
    return _strides(STEP, starts, last_end, marked=_is_marked(some))


def _strides(name: str, starts: npt.NDArray[np.int64], last_end: int, *, marked: bool = True) -> Units:
    window = Window(name, int(starts[0]), last_end)
    return Units(Fraction(len(starts)), window, np.diff(np.append(starts, last_end)), marked=marked)


def _samples(recording: Recording) -> Units | None:
    count = samples(recording.manifest, len(marked(recording.model, "epoch", recording.window)))
    if count is None:
        return None
    stepped = _steps(recording)
    if stepped is None or not stepped.marked:
        return Units(Fraction(count), recording.window)
    return Units(Fraction(count), recording.window, stepped.strides, Fraction(count) / stepped.count)


def _ranges(recording: Recording, per: str) -> Units | None:
    """Return the outermost ranges of the name in the process that opens the first of them."""
    model, window = recording.model, recording.window
    overlaps = (pl.col("start") < window.end_ns) & (pl.col("end") > window.start_ns) & (pl.col("end") > pl.col("start"))
    rows = model.nvtx.filter(overlaps & ~pl.col("is_library"))
    names = rows["range"].unique()
    wanted = names.filter(pl.Series(matching(model.names.text(names), per.removeprefix(NVTX)), dtype=pl.Boolean))
    rows = rows.filter(pl.col("range").is_in(wanted.implode())).sort("start", "end", descending=[False, True])
    if rows.is_empty():
        return None
    rows = rows.filter(pl.col("pid") == rows["pid"][0])
    starts, ends = rows["start"].to_numpy(), rows["end"].to_numpy()
    outermost = _one_after_another(starts, ends)
    return _strides(per, starts[outermost], int(ends[outermost[-1]]))


def _one_after_another(starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> list[int]:
    """Return each range that begins when the one before it has ended; `starts` ascend, no range has length 0."""
    following = np.searchsorted(starts, ends, "left").tolist()
    kept = [0]
    while following[kept[-1]] < len(starts):
        kept.append(following[kept[-1]])
    return kept


def _launches(recording: Recording, pattern: str) -> Units | None:
    window = recording.window
    inside = recording.model.kernels.filter(pl.col("start") < window.end_ns, pl.col("end") > window.start_ns)
    counts = inside.group_by("name").len()
    return launches(recording.model.names.text(counts["name"]), counts["len"], pattern, len(recording.compared), window)


def launches(names: Iterable[str], counts: Iterable[int], pattern: str, ledgers: int, window: Window) -> Units | None:
    """Return the launches of the kernels that match, per ledger; None without any."""
    names = list(names)
    total = sum(count for count, is_wanted in zip(counts, matching(names, pattern), strict=True) if is_wanted)
    return Units(Fraction(total, ledgers), window) if total else None


def choose(has: Callable[[str], bool]) -> str:
    """Return the unit that `auto` stands for: the first that `has` says yes to; the run is always one."""
    return next(per for per in AUTOMATIC if per == RUN or has(per))
