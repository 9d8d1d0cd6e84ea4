"""What several ranks tell together, in words."""

from wallsplit.comparison.across_ranks import Rank, Ranks
from wallsplit.text import for_people
from wallsplit.units import ns, ratio

LABEL = 40
"""Characters of a rank's label."""
LARGE_CORRECTION_NS = 50_000_000
"""Clocks of machines that keep time differ by less."""


def rank_label(rank: Rank) -> str:
    """Return what a rank is called."""
    return for_people(rank.label, LABEL)


def ranks_sentence(ranks: Ranks) -> str:
    """Return which rank the others wait for, what that costs, and how evenly they compute."""
    count = len(ranks.ranks)
    wall = max(rank.ledger.wall_ns for rank in ranks.ranks)
    uneven = "" if ranks.imbalance_ratio is None else f"; the rank that computes most does {_more(ranks)}"
    if ranks.skew is None:
        return f"{count} ranks: who waits for whom cannot be told, {ranks.reason or ranks.clocks.told}{uneven}."
    if ranks.slowest is None:
        return f"{count} ranks in {ns(wall)}: none holds the others up{uneven}."
    slowest = next(rank for rank in ranks.ranks if rank.label == ranks.slowest)
    waits = [rank.wait_ns or 0 for rank in ranks.ranks if rank is not slowest]
    mean = sum(waits) / len(waits)
    return (
        f"{count} ranks in {ns(wall)}: {rank_label(slowest)} is the slowest, last at {slowest.came_last:,} of "
        f"{ranks.matched:,} collectives; the others wait {ns(mean)} each, {ratio(mean / wall if wall else 0.0)} of "
        f"the time{uneven}."
    )


def _more(ranks: Ranks) -> str:
    return f"{ratio(ranks.imbalance_ratio or 0.0)} more than the mean"


def clock_warnings(ranks: Ranks) -> list[str]:
    """Return what must be known of the clocks before skews are believed, as sentences."""
    sentences = []
    setting = ranks.clocks
    if setting.how != "collectives" or ranks.skew is None:
        sentences.append(f"{(ranks.reason or setting.told)[:1].upper()}{(ranks.reason or setting.told)[1:]}.")
    elif ranks.not_overlapping:
        sentences.append(f"{ranks.not_overlapping:,} collectives do not overlap on all ranks and are left out.")
    corrected = setting.corrected_ns
    if corrected is not None and corrected > LARGE_CORRECTION_NS:
        sentences.append(
            f"The collectives say that the clocks are {ns(corrected)} apart from what UTC says: either a machine keeps "
            "no time, or the captures began at different collectives, and then every skew is wrong."
        )
    skew = ranks.skew
    if skew is not None and setting.spread_ns is not None and skew.med_ns < 3 * setting.spread_ns:
        sentences.append(
            f"The usual skew ({ns(skew.med_ns)}) is hardly more than what the clocks are certain to "
            f"({ns(setting.spread_ns)})."
        )
    return sentences
