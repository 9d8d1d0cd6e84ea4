"""Steps by the names of NVTX ranges: ranges named like steps, else phases that take turns."""

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.ledger.phases import PhaseRule, phase_of, words
from wallsplit.model.annotations import Annotations
from wallsplit.model.names import Names
from wallsplit.ranks import ranked, rows_of_each
from wallsplit.why.steps.cycle.choice import MIN_STEPS
from wallsplit.why.steps.ranges import LAYER, shapes
from wallsplit.why.steps.units import Ints

STEP = re.compile(r"\b(?:steps?|iter(?:ation)?s?|minibatch|mini batch|batch|profiler step|replay|token)\b")
TURN = ("data", "forward", "loss", "backward", "optimizer")
"""Phases that a step is made of."""


@dataclass(frozen=True)
class NamedSteps:
    """Ranges of one thread whose names have the same words, ascending."""

    name: str
    thread: int
    start: Times
    end: Times

    @property
    def total_ns(self) -> int:
        """Return the time from start to end, all ranges together."""
        return int((self.end - self.start).sum())

    @property
    def is_disjoint(self) -> bool:
        """Return whether none of them overlaps the next."""
        return bool((self.end[:-1] <= self.start[1:]).all())


def named_steps(ranges: Annotations, names: Names, rules: tuple[PhaseRule, ...]) -> tuple[NamedSteps, ...]:
    """Return the steps that ranges name, by kind: that which takes most time first; nothing where no range does."""
    shape, texts = shapes(ranges, names)
    groups = [group for group in _groups(ranges, shape, texts, _is_step) if group.is_disjoint]
    groups.sort(key=lambda group: (-group.total_ns, int(group.start[0])))
    if not groups:
        turns = _phases_in_turns(ranges, shape, texts, rules)
        return () if turns is None else (turns,)
    same = [group for group in groups if group.thread == groups[0].thread]
    return tuple(_disjoint(same))


def _disjoint(groups: Sequence[NamedSteps]) -> Iterator[NamedSteps]:
    """Yield in turn the groups that overlap none of those before them; each is disjoint in itself.

    What was chosen lies in a few arrays, each more than twice as long as the next: adding a group merges the short
    ones, so that many groups cost n log n, not n².
    """
    chosen: list[NamedSteps] = []
    for group in groups:
        if all(_are_apart(some, group) for some in chosen):
            yield group
            chosen.append(group)
            while len(chosen) > 1 and len(chosen[-2].start) <= 2 * len(chosen[-1].start):
                chosen[-2:] = [_merged(*chosen[-2:])]


def _are_apart(some: NamedSteps, others: NamedSteps) -> bool:
    """Return whether no range of one overlaps one of the other; each is disjoint in itself, and ascending."""
    begun = np.searchsorted(some.start, others.end, side="left")
    ended = np.searchsorted(some.end, others.start, side="right")
    return bool((begun <= ended).all())


def _is_step(text: str) -> bool:
    return STEP.search(words(text)) is not None


def _merged(one: NamedSteps, other: NamedSteps) -> NamedSteps:
    start, end = np.append(one.start, other.start), np.append(one.end, other.end)
    order = np.lexsort((end, start))
    return NamedSteps(one.name, one.thread, start[order], end[order])


def _groups(
    ranges: Annotations, shape: Ints, texts: Sequence[str], is_wanted: Callable[[str], bool]
) -> Iterator[NamedSteps]:
    """Yield the wanted ranges by thread and words, at least MIN_STEPS in a group, in the order of first occurrence."""
    numbers: dict[str, int] = {}
    labels = [numbers.setdefault(words(text), len(numbers)) if is_wanted(text) else -1 for text in texts]
    label = np.array([*labels, -1], np.int64)[shape]  # by row of names; the last for those of no range
    of_kinds = label[ranges.kinds["text"].to_numpy()]
    wanted = ranges.of_kinds(of_kinds >= 0)
    key, group = ranked(ranked(wanted.thread)[1] * len(numbers) + wanted.each(of_kinds))
    rows = rows_of_each(group, len(key))
    text = list(numbers)
    for i in sorted(range(len(key)), key=lambda i: int(rows[i][0])):
        if len(rows[i]) >= MIN_STEPS:
            mine = wanted.at(rows[i])
            mine = mine.at(np.lexsort((mine.end, mine.start)))
            yield NamedSteps(text[int(key[i]) % len(numbers)], int(mine.thread[0]), mine.start, mine.end)


def _phases_in_turns(
    ranges: Annotations, shape: Ints, texts: Sequence[str], rules: tuple[PhaseRule, ...]
) -> NamedSteps | None:
    """Return the steps that nobody named but whose phases are: on one thread, equally often, in strict turns.

    A step runs from the start of its first phase to that of the next step's, the last one to the end of its last phase.
    """

    def is_phase(text: str) -> bool:
        return phase_of(text, rules) in TURN and not re.search(LAYER, text)

    by_count: dict[tuple[int, int], list[NamedSteps]] = {}
    for group in _groups(ranges, shape, texts, is_phase):
        by_count.setdefault((group.thread, len(group.start)), []).append(group)
    found = [_in_turns(by_count[key], rules) for key in sorted(by_count)]
    return max((steps for steps in found if steps), key=lambda steps: steps.total_ns, default=None)


def _in_turns(phases: Sequence[NamedSteps], rules: tuple[PhaseRule, ...]) -> NamedSteps | None:
    turn: list[NamedSteps] = []
    for phase in sorted(phases, key=lambda phase: (int(phase.start[0]), phase.name)):
        first, last = (turn[0], turn[-1]) if turn else (phase, phase)
        follows = not turn or bool((last.end <= phase.start).all())
        if follows and (phase.end[:-1] <= first.start[1:]).all():
            turn.append(phase)
    kinds = {phase_of(phase.name, rules) for phase in turn}
    if len(kinds) < 2 or not kinds & {"forward", "backward"}:
        return None
    first, last = turn[0], turn[-1]
    name = " + ".join(phase.name for phase in turn)
    return NamedSteps(name, first.thread, first.start, np.append(first.start[1:], last.end[-1:]))
