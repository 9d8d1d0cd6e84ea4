"""The verdict on one GPU, from the first finding of its speaker."""

import re

from wallsplit.model.error_codes import in_words
from wallsplit.words.amounts import counted, duration, per_cent, some_of
from wallsplit.words.clauses import INFERRED, NOUNS, how_long, sms
from wallsplit.words.speakers import Speaker

MOST_WORDS = 15
_ALIKE = 1.2
"""Steps whose 95th percentile is so many times their median, or less, are told by the median alone."""

_NEARLY_ALL = 0.75
"""Of the time around a few GPU operations: a cause that takes so much says more than their number."""


def of_gpu(one: Speaker) -> str:
    """Return the verdict on one GPU: what its first finding says."""
    primary = one.diagnosis.primary
    if primary == "failed_calls":
        return _failed_calls(one)
    if primary == "startup":
        return _startup(one)
    if primary == "abstain":
        busy = one.ledger.busy_ratio or 0.0
        return f"The GPU is busy at least {of_time(busy)}; the rest may be unrecorded work."
    if primary == "few_operations":
        return capital(f"{_operations(one)}: nothing to tune on the GPU yet.")
    if primary == "unseen_wait":
        return f"Waits for something unseen take {of_time(_share_of(one, primary))}: a hang, or lost records."
    if one.graph_share >= 0.5:
        return _graphs(one)
    if primary in ("gpu_bound", "mixed"):
        return _computes(one)
    if primary == "blocked":
        finding = one.finding(primary)
        return f"The GPU waits: the main thread sleeps {how_long(one, finding)}." if finding else _computes(one)
    if primary == "migration":
        return f"Page migrations run under kernels {of_time(_share_of(one, primary))}."
    if primary == "small_grids":
        return f"{_running(one)} on {sms(one) or 'few'} SMs."
    rest = f"{_takes(one, primary)} of the time."
    return _fitting(f"{_running(one, of='')}; {rest}", f"The GPU computes {per_cent(one.share('work'))}; {rest}")


def _share_of(one: Speaker, cause: str) -> float:
    finding = one.finding(cause)
    return finding.share_ratio if finding else one.share(cause)


def _takes(one: Speaker, cause: str) -> str:
    probably = "probably " if cause in INFERRED else ""
    return f"{_noun(one, cause)} {probably}takes {per_cent(_share_of(one, cause))}"


def _noun(one: Speaker, cause: str) -> str:
    return "waiting in MPI" if cause == "comm" and one.why.comm is None else NOUNS[cause]


def _operations(one: Speaker) -> str:
    finding = one.finding("few_operations")
    count = finding.operations or 0 if finding else 0
    return f"{counted(count, 'GPU operation')} in {duration(one.ledger.wall_ns)}"


def _failed_calls(one: Speaker) -> str:
    finding = one.finding("failed_calls")
    failed = finding.failed if finding else None
    if failed is None:
        return "Calls failed: nothing else means much."
    what = counted(failed.count, "launch") if "Launch" in failed.call else counted(failed.count, "call")
    nothing = "No kernel ran: " if not one.ledger.kernel_active_ns else ""
    return capital(f"{nothing}{what} failed, {in_words(failed.code)}.")


def capital(sentence: str) -> str:
    """Return the sentence with a capital letter first."""
    return sentence[0].upper() + sentence[1:]


def _startup(one: Speaker) -> str:
    finding = one.finding("startup")
    if finding is None:
        return _computes(one)
    share, call = per_cent(finding.share_ratio), finding.longest_call
    if one.loads_code:
        return f"{of_time(finding.share_ratio)} CUDA loads code; the GPU computes {per_cent(_work_of_window(one))}."
    if call and call.count == 1 and "Launch" in call.name and call.total_ns >= 0.9 * finding.prize_upper_ns:
        return f"{share} is one first launch loading code; {_afterwards(one)}."
    return _fitting(
        f"{share} of this recording is start-up; {_afterwards(one)}.", f"{share} is start-up; {_afterwards(one)}."
    )


def words(sentence: str) -> int:
    """Return how many words a sentence has; a number with its per cent sign is one."""
    return len(re.findall(r"[^\s%]*\w[^\s%]*", sentence))


def _fitting(*variants: str) -> str:
    """Return the first variant that is no longer than a verdict may be, else the last one."""
    return next((variant for variant in variants if words(variant) <= MOST_WORDS), variants[-1])


def _work_of_window(one: Speaker) -> float:
    causes = one.diagnosis.causes or {}
    return causes.get("work", 0) / one.ledger.wall_ns


def _afterwards(one: Speaker) -> str:
    """Return what matters once start-up is over."""
    cause = one.diagnosis.in_scope or "mixed"
    is_idle = not one.is_steady and one.share("work") < 0.05
    finding = one.finding(cause)
    if one.finding("few_operations") and not (is_idle and finding and finding.share_ratio >= _NEARLY_ALL):
        return _operations(one)
    steps = one.why.steps
    where = "then "
    if one.is_steady and steps.count > 1:
        where = f"in {some_of(steps.steady_count, steps.count, 'step', of='its')}, "
    if cause == "gpu_bound":
        return (
            "the GPU then computes" if not one.is_steady else f"{where}the GPU computes {per_cent(one.share('work'))}"
        )
    if cause == "small_grids":
        return f"then kernels use {sms(one) or 'few'} SMs"
    if cause == "mixed":
        return f"{where}the GPU computes {per_cent(one.share('work'))}"
    if is_idle and _share_of(one, cause) >= 0.5:
        return f"the rest is {_noun(one, cause)}, almost no GPU work"
    return f"{where}{_takes(one, cause)}"


def _graphs(one: Speaker) -> str:
    busy = one.ledger.busy_ratio or 0.0
    kinds = one.why.steps.kinds if one.is_steady else None
    if not kinds:
        return f"The GPU is busy {per_cent(busy)} with graph replays, their inside unrecorded."
    replays = counted(kinds[0].count, "graph replay")
    return f"The GPU is busy {per_cent(busy)}; {replays} of {duration(kinds[0].med_ns)}, their inside unrecorded."


def _running(one: Speaker, of: str = " of the time") -> str:
    """Return how much of the scope the GPU computes."""
    if one.ledger.gpu_complete is False:
        return f"The GPU computes at least {per_cent(one.share('work'))}{of}"
    started = one.is_steady and one.outside_ns >= 0.01 * one.ledger.wall_ns
    begin = "Once running, the" if started else "The"
    return f"{begin} GPU computes {per_cent(one.share('work'))}{of}"


def _computes(one: Speaker) -> str:
    if one.diagnosis.primary == "mixed":
        return f"{_running(one)}; no other cause takes a tenth."
    if one.start_up_ns >= 0.5 * one.ledger.wall_ns:
        return f"{_running(one)}; over half the recording is start-up."
    return f"{_running(one)}{_steps(one)}."


def _steps(one: Speaker) -> str:
    """Return what the steps are like: `: 8 ms steps, some 11 ms`, `, in 4,095 steps`."""
    kinds = one.why.steps.kinds if one.is_steady else None
    if not kinds:
        return ""
    often = [kind for kind in kinds if kind.steady_count >= 0.05 * one.why.steps.count]
    if all(kind.p95_ns <= _ALIKE * kind.med_ns for kind in often):
        first = duration(often[0].med_ns)
        others = [duration(kind.med_ns) for kind in often[1:] if kind.med_ns > _ALIKE * often[0].med_ns]
        return f": {_short(first)} steps{f', some {_short(others[0])}' if others else ''}"
    return f", in {some_of(one.why.steps.steady_count, one.why.steps.count, 'step')}"


def _short(text: str) -> str:
    """Return a duration without the digits behind its point."""
    number, unit = text.split(" ")
    return f"{float(number.replace(',', '')):.0f} {unit}" if float(number.replace(",", "")) >= 2 else text


def of_time(ratio: float) -> str:
    """Return a share of the time: `95 % of the time`."""
    return f"{per_cent(ratio)} of the time"
