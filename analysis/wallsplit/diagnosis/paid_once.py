"""What a run pays once, however long it is: one definition behind finding, verdict, card and advice."""

from collections.abc import Mapping

from wallsplit.diagnosis import rules
from wallsplit.diagnosis.diagnosis import Finding, Scope

LOADING = ("loading", "compile")
"""Paid once wherever they lie, for code is loaded and compiled but once."""


def paid_once(causes: Mapping[str, int], scope: Scope, wall_ns: int) -> Finding:
    """Return the idle time that is paid once, as a finding with its parts in ns; whether it is large is not asked.

    Counted are the causes of `rules.ONCE` outside the scope, and loading and compiling inside it; where no steps are
    steady, the set-up inside it too.
    """
    inside = (*LOADING, *(("startup",) if scope.name == "core" else ()))
    parts = {cause: causes[cause] - (0 if cause in inside else scope.causes[cause]) for cause in rules.ONCE}
    once = sum(parts.values())
    share = once / wall_ns if wall_ns else 0.0
    return Finding("startup", share, once, share, parts={cause: ns for cause, ns in parts.items() if ns})
