"""The seconds behind the verdict, in one line."""

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.ledger.ledger import Window
from wallsplit.words.speakers import Speaker, speakers


def seconds(analysis: Analysis) -> str:
    """Return the seconds behind the verdict: how long each phase of the run took, and that nothing is left over."""
    if analysis.window is None or not analysis.ledgers:
        return ""
    every = speakers(analysis)
    recorded = f"{units.ns(analysis.window.wall_ns)} {_of_what(analysis.window, explicit=analysis.window_is_explicit)}"
    residual = sum(abs(ledger.residual_ns) for ledger in analysis.ledgers)
    proof = f"sum = wall, residual {residual} ns"
    phases = next((speaker.diagnosis.phases_of_run for speaker in every if speaker.is_steady), None)
    if phases is None:
        return f"{recorded}{_around(every)}; {proof}."
    names = ("start-up and first steps", "steady", "after it")
    parts = [
        f"{units.ns(phase.end_ns - phase.start_ns)} {name}"
        for phase, name in zip(phases, names, strict=True)
        if phase.end_ns > phase.start_ns
    ]
    return f"{recorded}: {', '.join(parts)}; {proof}."


def _of_what(window: Window, *, explicit: bool) -> str:
    if explicit:
        return "in the window"
    return "from the first to the last NVTX range" if window.name == "nvtx" else "recorded"


def _around(every: tuple[Speaker, ...]) -> str:
    """Return how long it took to the first GPU operation, where that is no small part."""
    scope = every[0].diagnosis.scope if len(every) == 1 else None
    if scope is None or every[0].outside_ns < 0.01 * every[0].ledger.wall_ns:
        return ""
    return f": {units.ns(every[0].outside_ns)} outside, {units.ns(scope.size_ns)} from first to last GPU operation"
