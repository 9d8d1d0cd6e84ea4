"""Arithmetic against overhead of an analysis: whether there is anything to say, and whether it can be true."""

from collections.abc import Sequence

from wallsplit.arithmetic.counting import Question, arithmetic
from wallsplit.arithmetic.work import LedgerArithmetic, impossible
from wallsplit.errors import FlopsError
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Ledger, Window
from wallsplit.model import Model
from wallsplit.note import Note


def against_overhead(
    model: Model, activities: Sequence[Activity], ledgers: Sequence[Ledger], window: Window | None, question: Question
) -> tuple[tuple[LedgerArithmetic, ...] | None, tuple[Note, ...]]:
    """Return the arithmetic of each ledger, None where nobody states FLOPs; and notes on what had to be left out.

    Raises:
        FlopsError: the FLOPs that the user gave would be more than 100 % of peak.
    """
    stated = question.run is not None and question.run.arithmetic is not None
    if window is None or not ledgers or (question.flops is None and not stated):
        return None, _useless_peak(question)
    found = arithmetic(model, activities, ledgers, window, question)
    reason = next((reason for one in found if (reason := _refusal(one, found, question))), None)
    if reason is None:
        return found, ()
    if question.flops is not None:
        raise FlopsError(reason)
    return None, (Note("impossible_flops", "warning", f"The manifest's FLOPs are not used: {reason}."),)


def _refusal(one: LedgerArithmetic, every: Sequence[LedgerArithmetic], question: Question) -> str | None:
    """Return why the FLOPs of a ledger cannot be; GPU work may run after the part of the program that enqueued it."""
    if one.peak is None:
        return None
    on_one_gpu = sum(other.pid == one.pid for other in every) == 1
    return impossible(one.works[0], one.peak, within_gpu_work=question.whole_trace and on_one_gpu)


def _useless_peak(question: Question) -> tuple[Note, ...]:
    if question.peak_flops_per_s is None:
        return ()
    text = "A peak was given, but nobody states the FLOPs of this trace: give them with --flops."
    return (Note("peak_without_flops", "warning", text),)
