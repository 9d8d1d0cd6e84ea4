"""What a comparison says, in words."""

from wallsplit.comparison.confidence import Confidence
from wallsplit.comparison.pairs import Comparison, Pair
from wallsplit.comparison.sides import Side
from wallsplit.comparison.units import RUN, SAMPLE
from wallsplit.comparison.waterfall import COMPUTING
from wallsplit.text import for_people
from wallsplit.units import ns, signed_ns, signed_ratio

LARGEST = 3
"""Accounts that the sentence names, and pairs that a warning does."""
LABEL = 40
"""Characters of a side's label or of a unit."""
THREE_RUNS = "3 runs a side tell whether the program does"


def label(side: Side) -> str:
    """Return what a side is called."""
    return for_people(side.label, LABEL)


def unit(comparison: Comparison) -> str:
    """Return what is compared per."""
    return for_people(comparison.per, LABEL)


def sentence(comparison: Comparison, pair: Pair) -> str:
    """Return what changed from one side to another, how much each account has to do with it, and how sure that is."""
    change = _change(comparison, pair)
    certainty = verdict(pair.confidence)
    largest = ", ".join(f"{line.name} {signed_ns(line.delta_ns)}" for line in pair.waterfall.lines[:LARGEST])
    most = f"; most of it {largest}" if largest else "; no account changed"
    if is_about_stalls(pair):
        return f"{certainty}. {change}{most}: stalls of a few steps make the difference."
    return f"{change}{most}; {certainty}."


def short_sentence(comparison: Comparison, pair: Pair) -> str:
    """Return the same without the accounts, and without a word on confidence where there is none."""
    certainty = "" if pair.confidence.low is None else f"; {verdict(pair.confidence)}"
    return f"{_change(comparison, pair)}{certainty}."


def verdict(confidence: Confidence) -> str:
    """Return how sure it is that the two sides differ; never a judgement that so few runs do not bear."""
    runs = min(confidence.runs)
    if confidence.low is None or confidence.high is None:
        return (
            f"no interval: {'one run' if runs == 1 else f'{runs} runs'} a side; record at least 3 to tell it from noise"
        )
    interval = f"[{signed_ratio(confidence.low)}, {signed_ratio(confidence.high)}]"
    figure = f"{confidence.figure} {signed_ratio(confidence.ratio)} {interval}"
    if confidence.verdict == "differs between these two runs":
        return f"{figure}: {confidence.verdict}; {THREE_RUNS}"
    if confidence.verdict == "no difference seen":
        return f"{figure}: no difference seen between the steps of these runs"
    return f"{figure}: {confidence.verdict}"


def is_about_stalls(pair: Pair) -> bool:
    """Return whether mean and typical step point apart: the mean changed by what the typical step's interval excludes.

    The waterfall adds up means, the verdict speaks of a figure that stalls do not move.
    """
    confidence = pair.confidence
    if confidence.low is None or confidence.high is None or confidence.figure == "wall time" or not pair.before.wall:
        return False
    mean = float(pair.after.wall / pair.before.wall) - 1
    is_same = confidence.low <= 0 <= confidence.high
    is_outside = not confidence.low <= mean <= confidence.high
    return is_outside and (is_same or mean * confidence.ratio < 0)


def work_differs(pair: Pair) -> str | None:
    """Return that the windows may hold different amounts of work, in words; None where they do not."""
    if pair.work_differs is None:
        return None
    before, after = pair.work_differs
    return f"{label(pair.before)} launches {before:,.0f} kernels, {label(pair.after)} {after:,.0f}"


def warnings(comparison: Comparison) -> list[str]:
    """Return what must be known before a comparison is believed, as sentences."""
    pairs = comparison.pairs
    sentences = []
    differing = [differs for pair in pairs if (differs := work_differs(pair))]
    if differing:
        more = f"; {len(differing) - LARGEST} pairs more" if len(differing) > LARGEST else ""
        sentences.append(
            f"{'; '.join(differing[:LARGEST])}{more}: is it the same work? Compare with --per step, or "
            "kernel:GLOB of a kernel that each step launches."
        )
    lacking = [label(side) for side in comparison.sides if not side.gpu_complete]
    if lacking:
        sentences.append(
            f"GPU work is not fully recorded in {', '.join(lacking)}: the change of the wall time is certain, those of "
            "single accounts are not."
        )
    missing = {name: None for pair in pairs for name in pair.waterfall.not_measured_on_one_side}
    if missing:
        names = ", ".join(missing) if len(missing) <= 4 else f"{len(missing)} accounts"
        sentences.append(f"Not measured on one side, and counted as 0 there: {names}.")
    return sentences


def graphed(pair: Pair) -> str | None:
    """Return that kernels became graphs, or graphs kernels, and are one line; None where they did not."""
    if pair.waterfall.graphed is None:
        return None
    kernel, graph = pair.waterfall.graphed
    return (
        f"{kernel.name} ({signed_ns(kernel.delta_ns)}) and {graph.name} ({signed_ns(graph.delta_ns)}) are one line, "
        f"{COMPUTING.title}: kernels of one side run inside graphs on the other."
    )


def how_sure(comparison: Comparison) -> str:
    """Return why it is compared per that unit, what the intervals are, and what they say nothing of."""
    sentence = f"Per {unit(comparison)}: {comparison.why}."
    confidence = comparison.pairs[0].confidence
    if confidence.method is None:
        return f"{sentence} No interval: 3 runs a side, or steps in both, would give one."
    return f"{sentence} Interval of {confidence.level * 100:g} %: {confidence.method}; it covers {confidence.covers}."


def _change(comparison: Comparison, pair: Pair) -> str:
    before, after = float(pair.before.wall), float(pair.after.wall)
    ratio = f", {signed_ratio(after / before - 1)}" if before else ""
    changed = signed_ns(pair.waterfall.wall_delta_ns)
    return (
        f"{label(pair.after)} against {label(pair.before)}, per {unit(comparison)}: "
        f"{ns(before)} → {ns(after)} ({changed}{ratio})"
    )


def counts_are_of(comparison: Comparison) -> tuple[str, int]:
    """Return what counts in tables are told per, and the factor for it: per 1,000 samples, else per unit."""
    if comparison.per == SAMPLE:
        return "1,000 samples", 1000
    return ("run" if comparison.per == RUN else unit(comparison)), 1
