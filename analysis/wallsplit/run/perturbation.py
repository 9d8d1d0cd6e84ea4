"""Whether the profiler slowed the program down: interleaved runs without and with it, compared by median and spread."""

from math import comb
from statistics import median
from typing import Literal

from wallsplit.frozen import dataclass
from wallsplit.run.manifest import Baseline, RunManifest

THRESHOLD_RATIO = 0.10  # below it a profile is taken for the program itself
CHANCE_LIMIT = 0.05

Verdict = Literal["perturbed", "not perturbed", "cannot tell"]


@dataclass(frozen=True)
class Perturbation:
    """The slowdown, profiled ÷ unprofiled − 1, of the medians and of the two most different pairs of runs."""

    verdict: Verdict
    reason: str  # a clause that follows the verdict
    slowdown_ratio: float | None = None
    lowest_ratio: float | None = None  # fastest profiled run against slowest unprofiled run
    highest_ratio: float | None = None  # slowest profiled run against fastest unprofiled run


def comparable(manifest: RunManifest) -> tuple[str, int] | None:
    """Return (what it is, ns) of a run, to be compared between runs: its epochs, or all of it; None without a clock."""
    if manifest.epochs:
        return "sum of epochs", sum(epoch.wall_ns for epoch in manifest.epochs)
    return None if manifest.wall_ns is None else ("whole run", manifest.wall_ns)


def perturbation(baseline: Baseline) -> Perturbation:
    """Return the verdict on one set of interleaved runs.

    "perturbed" wants medians 10 % apart and every profiled run slower than every unprofiled one, with enough runs
    that chance alone rarely orders them so: n and m equal runs separate with probability 1 ÷ C(n+m, n) (the exact
    rank-sum test's smallest p-value), 1/2 for one run each and 1/20 for three. "not perturbed" wants as many runs,
    medians less than 10 % apart, and neither kind of run scattering by 10 % itself. Anything else cannot be told.
    """
    plain, profiled = baseline.wall_ns, baseline.profiled_wall_ns
    if not plain or not profiled or min(plain) <= 0:
        return Perturbation("cannot tell", "there is no run without the profiler to compare with")
    slowdown = median(profiled) / median(plain) - 1
    lowest, highest = min(profiled) / max(plain) - 1, max(profiled) / min(plain) - 1
    verdict, reason = _verdict(plain, profiled, slowdown, lowest)
    return Perturbation(verdict, reason, slowdown, lowest, highest)


def _verdict(plain: tuple[int, ...], profiled: tuple[int, ...], slowdown: float, lowest: float) -> tuple[Verdict, str]:
    if len(plain) == len(profiled) == 1:
        return "cannot tell", "with one run of each kind the noise is unknown"
    if 1 / comb(len(plain) + len(profiled), len(plain)) > CHANCE_LIMIT:
        return (
            "cannot tell",
            f"{len(plain)} unprofiled and {len(profiled)} profiled runs are too few, take 3 of each",
        )
    if slowdown >= THRESHOLD_RATIO:
        if lowest > 0:
            return "perturbed", "every profiled run was slower than every unprofiled one"
        return "cannot tell", "the medians differ by 10 % or more, but the two kinds of run overlap"
    noise = max(_scatter(plain), _scatter(profiled))
    if noise < THRESHOLD_RATIO:
        return "not perturbed", f"runs of one kind scatter by {noise:.1%} at most"
    return "cannot tell", f"runs of one kind scatter by {noise:.0%}, too much to see a slowdown of 10 %"


def _scatter(runs: tuple[int, ...]) -> float:
    """Return (slowest − fastest) ÷ median."""
    return (max(runs) - min(runs)) / median(runs)
