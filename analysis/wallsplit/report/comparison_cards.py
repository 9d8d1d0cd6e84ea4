"""The cards of a comparison: the wall time, what changed most, what stayed; of several pairs one card each."""

from collections.abc import Iterator

from wallsplit.accounts import ACCOUNTS
from wallsplit.comparison.pairs import Comparison, Pair
from wallsplit.comparison.sides import Side
from wallsplit.comparison.waterfall import PER_NS, Line
from wallsplit.report.cards import Card
from wallsplit.report.cells import cell_text
from wallsplit.report.document import AtLeast, AtMost, Cell
from wallsplit.text import for_people
from wallsplit.units import ns, signed_ns, signed_ratio
from wallsplit.words.changes import label, verdict
from wallsplit.words.comparison_verdict import unit_noun
from wallsplit.words.gpu_verdict import capital

_STAYED = 0.01
"""Of the wall time before: an account that changed by less stayed as it was, and a shorter one is not named."""
_BOUNDS = (AtMost, AtLeast)
_NAMED = 3
_PAIRS = 6
_LABEL = 24
"""Characters of a label beside another."""


def comparison_cards(comparison: Comparison) -> tuple[Card, ...]:
    """Return the cards."""
    pairs = comparison.pairs
    if len(pairs) == 1:
        return tuple(_of_pair(pairs[0], unit_noun(comparison)))
    return tuple(
        _wall(pair, f"{for_people(label(pair.after), _LABEL)} against {for_people(label(pair.before), _LABEL)}")
        for pair in pairs[:_PAIRS]
    )


def bounded(time: float | None, account: str, side: Side) -> Cell:
    """Return a time; as a bound where not all GPU work of the side was recorded."""
    if time is None or side.gpu_complete or (not time and not account.startswith("gpu.")):
        return time
    return AtLeast(time) if account.startswith("gpu.") and account != "gpu.other" else AtMost(time)


def _of_pair(pair: Pair, unit: str) -> Iterator[Card]:
    yield _wall(pair, f"Wall time per {unit}")
    lines = pair.waterfall.lines
    if lines:
        yield _largest(pair, lines[0], lines[1:_NAMED])
    yield from _stayed(pair)


def _wall(pair: Pair, title: str) -> Card:
    before, after = float(pair.before.wall), float(pair.after.wall)
    ratio = f", {signed_ratio(after / before - 1)}" if before else ""
    change = f"{signed_ns(pair.waterfall.wall_delta_ns)}{ratio}"
    return Card(title, f"{ns(before)} → {ns(after)}", change, None, f"{capital(verdict(pair.confidence))}.")


def _largest(pair: Pair, largest: Line, others: tuple[Line, ...]) -> Card:
    """Return the card of the largest change: a bound, as its times are, where not all GPU work was recorded."""
    before = bounded(largest.before_ns, largest.account, pair.before)
    after = bounded(largest.after_ns, largest.account, pair.after)
    is_less, is_more = (
        isinstance(after, kind) or isinstance(before, other) for kind, other in (_BOUNDS, _BOUNDS[::-1])
    )
    bound = "" if is_less == is_more else "≤ " if is_less else "≥ "
    recorded = ", as recorded" if is_less and is_more else ""
    then = ", ".join(f"{line.name} {signed_ns(line.delta_ns)}" for line in others)
    text = f"{_time(before)} → {_time(after)}{'; then ' if then else ''}{then}."
    return Card("Largest change", f"{bound}{signed_ns(largest.delta_ns)}", f"{largest.name}{recorded}", None, text)


def _stayed(pair: Pair) -> Iterator[Card]:
    """Yield the card of the accounts that are as they were, where they hold time worth a word."""
    water, least = pair.waterfall, _STAYED * float(pair.before.wall)
    times = {
        name: float(time)
        for name in ACCOUNTS
        if (time := pair.after.accounts[name]) is not None
        and name not in water.not_measured_on_one_side
        and abs(water.account_deltas[name]) / PER_NS[water.unit] < least
    }
    named = sorted((name for name in times if times[name] >= least), key=lambda name: -times[name])
    if named:
        told = ", ".join(f"{name} {_time(bounded(times[name], name, pair.after))}" for name in named[:_NAMED])
        of = f"in accounts that changed by less than {_STAYED * 100:g} % of the wall time"
        yield Card("What stayed", ns(sum(times.values())), of, None, f"{told}.")


def _time(time: Cell) -> str:
    return cell_text(time, "ns", "not measured")
