"""Why nothing is concluded of a ledger."""

from wallsplit import units
from wallsplit.diagnosis.explanation import Explanation
from wallsplit.diagnosis.remedies import remedy
from wallsplit.ledger.ledger import Ledger
from wallsplit.model.error_codes import in_words
from wallsplit.text import shorten
from wallsplit.words.titles import TITLES


def without_findings(label: str, ledger: Ledger, why: Explanation, *, asked_for_cpu: bool) -> str:
    """Return why nothing is concluded of a ledger, and what to do."""
    diagnosis = why.diagnosis
    if diagnosis.primary == "no_cuda" and asked_for_cpu:
        return f"{label}: it ran on the CPU, as it was asked to; findings are about GPU work."
    advice = remedy("failed_calls" if diagnosis.failed else diagnosis.primary, diagnosis.framework)
    if diagnosis.failed:
        failed = f"{shorten(diagnosis.failed.call)} failed: {in_words(diagnosis.failed.code)}"
        return f"{label}: no GPU work was recorded, and {failed}. What to do: {advice}."
    if diagnosis.primary == "abstain" and ledger.launch_coverage is not None and ledger.device is not None:
        share = units.ratio(ledger.launch_coverage)
        reason = f"only {share} of the launches have GPU rows, so idle time may be work that was not recorded"
    elif diagnosis.primary == "abstain":
        reason = "work was launched, but no GPU work was recorded"
    else:
        reason = TITLES[diagnosis.primary]
    return f"{label}: {reason}. What to do: {advice}."
