"""The verdict of a comparison: what a person should know first, in at most fifteen words.

It is made from the comparison's values, never from other sentences, and says no more than the runs bear: what few runs
tell is told of these runs, in the past tense.
"""

from wallsplit.accounts import PARTS, Part
from wallsplit.comparison.confidence import ENOUGH_RUNS, WORDS, Confidence
from wallsplit.comparison.pairs import Comparison, Pair
from wallsplit.comparison.units import RUN, SAMPLE, STEP
from wallsplit.units import ns
from wallsplit.words.amounts import how_many, per_cent, some_of
from wallsplit.words.changes import is_about_stalls
from wallsplit.words.gpu_verdict import capital, fitting

_MOST = 0.5
"""Of the change, for a part of the ledger to be what it mostly is."""
_HARDLY = 0.0005
"""A change below this would print as 0.0 %."""
_STEPS = {WORDS["median"]: "the median step", WORDS["p05"]: "the undisturbed step", WORDS["mean"]: "the mean step"}
_NOUNS = {RUN: "run", STEP: "step", SAMPLE: "sample"}


def comparison_verdict(comparison: Comparison) -> str:
    """Return the verdict of a comparison."""
    pairs = comparison.pairs
    return _of_pair(pairs[0], unit_noun(comparison)) if len(pairs) == 1 else _of_several(comparison)


def unit_noun(comparison: Comparison) -> str:
    """Return what is compared per, in one word: globs, which may be long, stand in the caption."""
    return _NOUNS.get(comparison.per, "launch" if comparison.per.startswith("kernel:") else "range")


def _of_pair(pair: Pair, unit: str) -> str:
    confidence, walls = pair.confidence, (float(pair.before.wall), float(pair.after.wall))
    differs = confidence.verdict in ("slower", "faster", "differs between these two runs")
    if not pair.waterfall.lines and not differs:
        return f"No difference: {_instead(*walls)}, per {unit}."
    if pair.work_differs:
        launches = _difference(*pair.work_differs, "up", "down")
        return f"Perhaps not the same work: {_instead(*walls)}; kernel launches {launches}."
    if not differs and confidence.low is not None:
        if is_about_stalls(pair):
            return "No difference to be told from noise, but for stalls of a few steps."
        return f"No difference to be told from noise: {_instead(*_figures(confidence), 'against')}, per {unit}."
    if confidence.low is None:
        return f"{capital(_whole(unit))} took {_change(*walls)}; noise unknown."
    subject = _STEPS.get(confidence.figure, _whole(unit))
    if confidence.verdict == "differs between these two runs":
        return f"In these runs {subject} took {_change(*_figures(confidence))}."
    told = f"{capital(subject)} takes {_change(*_figures(confidence))}"
    part = _mostly(pair)
    return fitting(*([f"{told}, mostly {_name(part)}."] if part else []), f"{told}.")


def _of_several(comparison: Comparison) -> str:
    walls, pairs = [float(side.wall) for side in comparison.sides], comparison.pairs
    low, high = ns(min(walls)), ns(max(walls))
    extent = high if low == high else f"{low} to {high}"
    told = f"{capital(how_many(len(walls)))} sides: {extent} per {unit_noun(comparison)}"
    if any(pair.work_differs for pair in pairs):
        return f"{told}, perhaps not for the same work."
    if all(min(pair.confidence.runs) < ENOUGH_RUNS for pair in pairs):
        return f"{told}; noise between runs unknown."
    certain = sum(pair.confidence.verdict in ("slower", "faster") for pair in pairs)
    if not certain:
        return f"{told}; no change exceeds noise."
    return f"{told}; {some_of(certain, len(pairs), 'change')} {'exceeds' if certain == 1 else 'exceed'} noise."


def _whole(unit: str) -> str:
    """Return the subject of a sentence on wall times: of launches it is not how long the kernel itself takes."""
    return {"run": "the run", "launch": "per launch it"}.get(unit, f"a {unit}")


def _figures(confidence: Confidence) -> tuple[float, float]:
    return confidence.before_ns, confidence.after_ns


def _change(before_ns: float, after_ns: float) -> str:
    """Return a change of a time: `1.80 ms instead of 2.40 ms: 25 % less`."""
    difference = _difference(before_ns, after_ns, "more", "less")
    return _instead(before_ns, after_ns) + (f": {difference}" if difference else "")


def _instead(before_ns: float, after_ns: float, word: str = "instead of") -> str:
    """Return two times, or the one that both print as."""
    before, after = ns(before_ns), ns(after_ns)
    return f"{after} on both sides" if before == after else f"{after} {word} {before}"


def _difference(before: float, after: float, up: str, down: str) -> str:
    """Return by how much a number changed: `25 % less`, `210 % more`; empty where it would not show."""
    ratio = after / before - 1 if before else 0.0
    if abs(ratio) < _HARDLY:
        return ""
    amount = f"{ratio * 100:,.0f} %" if ratio >= 0.99 else per_cent(abs(ratio))  # only less ends at 100 %
    return f"{amount} {up if ratio > 0 else down}"


def _mostly(pair: Pair) -> Part | None:
    """Return the part of the ledger that makes most of the change, where it is certain that one does."""
    water, is_known = pair.waterfall, pair.before.gpu_complete and pair.after.gpu_complete
    if not is_known or not water.wall_delta or is_about_stalls(pair):
        return None
    shares = {part: water.part_deltas[part.key] / water.wall_delta for part in PARTS}
    largest = max(shares, key=lambda part: shares[part])
    is_measured = not set(largest.accounts) & set(water.not_measured_on_one_side)
    return largest if is_measured and shares[largest] >= _MOST else None


def _name(part: Part) -> str:
    """Return the part in two words or three, where it is clear that the GPU is idle."""
    return (part.without_device or part.title).removesuffix(", once")
