"""The strip: a run from its start to its end, its accounts stacked, ranges or steps beneath."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit import units
from wallsplit.accounts import ACCOUNTS, PARTS
from wallsplit.analysis import Analysis
from wallsplit.breakdowns.range_groups import grouped
from wallsplit.figures.inline import Kind
from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ledger.ledger import Ledger
from wallsplit.text import for_people
from wallsplit.why.course import SAMPLED, Beside, Course
from wallsplit.words.amounts import per_cent
from wallsplit.words.labels import ledger_label
from wallsplit.words.speakers import Speaker, speakers, worst

MOST = 8
"""Strips shown at once; of more GPUs the one that the figures are of and the one in the middle."""
PHASE_KEYS = ("phase1", "phase2", "phase3", "phase4", "phase5")
"""Colours of the largest parts of host code, where there is nothing else."""
OTHER, BLOCKED, RUN = "elsewhere", "blocked", "host"
"""Colours of the other named parts, of sleeping, and of running without a name."""
_TICKS = 8


@dataclass(frozen=True, eq=False)
class Strip:
    """A strip as data, free of any format."""

    label: str
    """Whose it is; empty where there is but one."""
    bounds: Times
    kinds: tuple[Kind, ...]
    """From the bottom."""
    shares: npt.NDArray[np.float64]
    """A row per stretch, a column per kind; rows sum to 1."""
    lanes: tuple[tuple[Beside, ...], ...]
    steady: tuple[int, int] | None
    """From when to when the steps are steady."""
    is_subject: bool = False
    """Whether verdict, cards and advice speak of this one among several."""

    @property
    def heading(self) -> str:
        """The label, and whether the figures are of it; empty where there is but one."""
        return f"{self.label} – the figures below are of it" if self.is_subject else self.label

    @property
    def start_ns(self) -> int:
        """When it begins, on the trace's clock."""
        return int(self.bounds[0])

    @property
    def end_ns(self) -> int:
        """When it ends."""
        return int(self.bounds[-1])

    def place(self, time_ns: int) -> float:
        """Return where a time lies, from 0 at the left to 1 at the right."""
        return min(1.0, max(0.0, (time_ns - self.start_ns) / max(1, self.end_ns - self.start_ns)))

    @property
    def totals(self) -> tuple[tuple[Kind, float], ...]:
        """What each kind takes of the whole strip."""
        weights = np.diff(self.bounds)
        whole = (self.shares * weights[:, None]).sum(axis=0) / max(1, int(weights.sum()))
        return tuple(zip(self.kinds, whole.tolist(), strict=True))

    @property
    def in_words(self) -> str:
        """What it shows, for those who do not see it."""
        shares = ", ".join(f"{kind.title} {per_cent(share)}" for kind, share in self.totals if share >= 0.001)
        steady = f"; steady from {clock(self.steady[0])}" if self.steady else ""
        whose = f"{self.label}: " if self.label else ""
        return f"{whose}{clock(self.start_ns)} to {clock(self.end_ns)}: {shares}{steady}"


def strips(analysis: Analysis) -> tuple[Strip, ...]:
    """Return a strip for each GPU, of many two (see MOST); without a GPU, of each process; () if unknown."""
    told = speakers(analysis)
    subject = worst(told) if told else None
    every = tuple(speaker for speaker in told if speaker.why.course is not None)
    if len(every) > MOST:
        ordered = sorted(every, key=lambda speaker: (speaker.share("work"), speaker.ledger.gpu or 0))
        middle = ordered[len(ordered) // 2]
        first = subject if subject in every and subject is not middle else ordered[0]
        every = (first, middle)
    alone = len(every) == 1
    drawn = [_strip(analysis, speaker, alone=alone, is_subject=speaker is subject and not alone) for speaker in every]
    return tuple(strip for strip in drawn if strip is not None)


def fewer(strips: Sequence[Strip], most: int) -> tuple[Strip, ...]:
    """Return at most so many of the strips in their order, the subject's among them."""
    kept = sorted(range(len(strips)), key=lambda i: not strips[i].is_subject)[:most]
    return tuple(strips[i] for i in sorted(kept))


def _strip(analysis: Analysis, speaker: Speaker, *, alone: bool, is_subject: bool) -> Strip | None:
    course, phases = speaker.why.course, speaker.diagnosis.phases_of_run
    if course is None or not course.ns.size:
        return None
    kinds, table = _parts(speaker.ledger, course) if course.labels == ACCOUNTS else by_phase(course.labels, course.ns)
    used = table.sum(axis=0) > 0
    shares = table[:, used] / np.diff(course.bounds)[:, None]
    return Strip(
        label="" if alone else ledger_label(analysis, speaker.ledger),
        bounds=course.bounds,
        kinds=tuple(kind for kind, is_used in zip(kinds, used.tolist(), strict=True) if is_used),
        shares=shares,
        lanes=course.lanes,
        steady=(phases[1].start_ns, phases[1].end_ns) if phases else None,
        is_subject=is_subject,
    )


def _parts(ledger: Ledger, course: Course) -> tuple[tuple[Kind, ...], npt.NDArray[np.int64]]:
    titles = [p.title if ledger.device is not None else p.without_device or p.title for p in PARTS]
    kinds = tuple(Kind(p.key, title.replace(" with the GPU", ", GPU")) for p, title in zip(PARTS, titles, strict=True))
    sums = [course.ns[:, [ACCOUNTS.index(account) for account in part.accounts]].sum(axis=1) for part in PARTS]
    return kinds, np.column_stack(sums)


def by_phase(labels: Sequence[str], ns: npt.NDArray[np.int64]) -> tuple[tuple[Kind, ...], npt.NDArray[np.int64]]:
    """Return the largest phases of host code and of samples in it, the others together, sleeping, and what has no name.

    `ns` has a column per label; so has what comes back, per kind.
    """
    names = [
        f"{label.removeprefix(SAMPLED)}, sampled" if label.startswith(SAMPLED) else label.removeprefix("host.")
        for label in labels
    ]
    totals = ns.sum(axis=0)
    phases = [
        i for i in np.argsort(-totals, kind="stable").tolist() if names[i] not in ("blocked", "run") and totals[i]
    ]
    first, rest = phases[: len(PHASE_KEYS)], phases[len(PHASE_KEYS) :]
    alone = [[i for i, name in enumerate(names) if name == wanted] for wanted in ("blocked", "run")]
    kinds = (
        *(Kind(key, names[i]) for key, i in zip(PHASE_KEYS, first, strict=False)),
        Kind(OTHER, "all others"),
        Kind(BLOCKED, "asleep in the operating system"),
        Kind(RUN, "host code without a name"),
    )
    groups = [*([i] for i in first), rest, *alone]
    return kinds, np.column_stack([ns[:, group].sum(axis=1) for group in groups])


def clock(time_ns: int) -> str:
    """Return a time on the trace's clock with as many digits as `--window` needs: `1.234s`."""
    return f"{time_ns / 1e9:.3f} s"


def ticks(start_ns: int, end_ns: int, most: int = _TICKS) -> tuple[tuple[int, str], ...]:
    """Return round times between two times, at most so many, with their labels in one unit."""
    span = max(1, end_ns - start_ns)
    step = next(s for s in _steps() if span / s <= most)
    factor, unit = next((f, u) for f, u in ((10**9, "s"), (10**6, "ms"), (10**3, "µs"), (1, "ns")) if step * 10 >= f)
    decimals = 0 if step % factor == 0 else 1 if (10 * step) % factor == 0 else 2
    first = -(-start_ns // step) * step
    return tuple((t, f"{t / factor:,.{decimals}f} {unit}") for t in range(first, end_ns + 1, step))


def _steps() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def hovers(strip: Strip) -> Iterator[tuple[int, int, str]]:
    """Give stretches as (first, one after the last, what they are), those side by side that read the same together."""
    texts = [_shares(strip.kinds, row) for row in strip.shares.tolist()]
    first = 0
    for i in range(1, len(texts) + 1):
        if i == len(texts) or texts[i] != texts[first]:
            when = f"{clock(int(strip.bounds[first]))} to {clock(int(strip.bounds[i]))}"
            yield first, i, f"{when}: {texts[first]}"
            first = i


def _shares(kinds: Sequence[Kind], row: Sequence[float]) -> str:
    return ", ".join(
        f"{kind.title} {per_cent(share)}" for kind, share in zip(kinds, row, strict=True) if share >= 0.005
    )


def beside_title(beside: Beside) -> str:
    """Return what a stretch beside the strip is, in full."""
    several = f" and {beside.count - 1:,} more" if beside.count > 1 else ""
    when = f"{clock(beside.start_ns)} to {clock(beside.end_ns)}, {units.ns(beside.end_ns - beside.start_ns)}"
    return f"{for_people(beside.name)}{several}: {when}"


def beside_label(beside: Beside) -> str:
    """Return what a stretch beside the strip is, in short."""
    (name,) = grouped(pl.Series([beside.name]))
    return for_people(name, 60) if beside.count == 1 else f"{beside.count:,} × {for_people(name, 60)}"
