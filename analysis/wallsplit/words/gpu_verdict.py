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


def of_gpu(speaker: Speaker) -> str:
    """Return the verdict on one GPU: what its first finding says."""
    primary = speaker.diagnosis.primary
    if primary == "failed_calls":
        return _failed_calls(speaker)
    if primary == "startup":
        return _startup(speaker)
    if primary == "abstain":
        busy = speaker.ledger.busy_ratio or 0.0
        return f"The GPU is busy at least {of_time(busy)}; the rest may be unrecorded work."
    if primary == "few_operations":
        return capital(f"{_operations(speaker)}: nothing to tune on the GPU yet.")
    if primary == "unseen_wait":
        return f"Waits for something unseen take {of_time(_share_of(speaker, primary))}: a hang, or lost records."
    if speaker.graph_share >= 0.5:
        return _graphs(speaker)
    if primary in ("gpu_bound", "mixed"):
        return _computes(speaker)
    if primary == "blocked":
        finding = speaker.finding(primary)
        return f"The GPU waits: the main thread sleeps {how_long(speaker, finding)}." if finding else _computes(speaker)
    if primary == "migration":
        return f"Page migrations run under kernels {of_time(_share_of(speaker, primary))}."
    if primary == "small_grids":
        return f"{_running(speaker)} on {sms(speaker) or 'few'} SMs."
    rest = f"{_takes(speaker, primary)} of the time."
    return fitting(f"{_running(speaker, of='')}; {rest}", f"The GPU computes {per_cent(speaker.share('work'))}; {rest}")


def _share_of(speaker: Speaker, cause: str) -> float:
    finding = speaker.finding(cause)
    return finding.share_ratio if finding else speaker.share(cause)


def _takes(speaker: Speaker, cause: str) -> str:
    probably = "probably " if cause in INFERRED else ""
    return f"{_noun(speaker, cause)} {probably}takes {per_cent(_share_of(speaker, cause))}"


def _noun(speaker: Speaker, cause: str) -> str:
    return "waiting in MPI" if cause == "comm" and speaker.why.comm is None else NOUNS[cause]


def _operations(speaker: Speaker) -> str:
    finding = speaker.finding("few_operations")
    count = finding.operations or 0 if finding else 0
    return f"{counted(count, 'GPU operation')} in {duration(speaker.ledger.wall_ns)}"


def _failed_calls(speaker: Speaker) -> str:
    finding = speaker.finding("failed_calls")
    failed = finding.failed if finding else None
    if failed is None:
        return "Calls failed: nothing else means much."
    what = counted(failed.count, "launch") if "Launch" in failed.call else counted(failed.count, "call")
    nothing = "No kernel ran: " if not speaker.ledger.kernel_active_ns else ""
    return capital(f"{nothing}{what} failed, {in_words(failed.code)}.")


def capital(sentence: str) -> str:
    """Return the sentence with a capital letter first."""
    return sentence[0].upper() + sentence[1:]


def _startup(speaker: Speaker) -> str:
    finding = speaker.finding("startup")
    if finding is None:
        return _computes(speaker)
    share, call = per_cent(finding.share_ratio), finding.longest_call
    if speaker.loads_code:
        return f"{of_time(finding.share_ratio)} CUDA loads code; the GPU computes {per_cent(_work_of_window(speaker))}."
    if call and call.count == 1 and "Launch" in call.name and call.total_ns >= 0.9 * finding.prize_upper_ns:
        return f"{share} is one first launch loading code; {_afterwards(speaker)}."
    return fitting(
        f"{share} of this recording is start-up; {_afterwards(speaker)}.",
        f"{share} is start-up; {_afterwards(speaker)}.",
    )


def words(sentence: str) -> int:
    """Return how many words a sentence has; a number with its per cent sign is one."""
    return len(re.findall(r"[^\s%]*\w[^\s%]*", sentence))


def fitting(*variants: str) -> str:
    """Return the first variant that is no longer than a verdict may be, else the last one."""
    return next((variant for variant in variants if words(variant) <= MOST_WORDS), variants[-1])


def _work_of_window(speaker: Speaker) -> float:
    causes = speaker.diagnosis.causes or {}
    return causes.get("work", 0) / speaker.ledger.wall_ns


def _afterwards(speaker: Speaker) -> str:
    """Return what matters once start-up is over."""
    cause = speaker.diagnosis.in_scope or "mixed"
    is_idle = not speaker.is_steady and speaker.share("work") < 0.05
    finding = speaker.finding(cause)
    if speaker.finding("few_operations") and not (is_idle and finding and finding.share_ratio >= _NEARLY_ALL):
        return _operations(speaker)
    steps = speaker.why.steps
    where = "then "
    if speaker.is_steady and steps.count > 1:
        where = f"in {some_of(steps.steady_count, steps.count, 'step', of='its')}, "
    if cause == "gpu_bound":
        return (
            "the GPU then computes"
            if not speaker.is_steady
            else f"{where}the GPU computes {per_cent(speaker.share('work'))}"
        )
    if cause == "small_grids":
        return f"then kernels use {sms(speaker) or 'few'} SMs"
    if cause == "mixed":
        return f"{where}the GPU computes {per_cent(speaker.share('work'))}"
    if is_idle and _share_of(speaker, cause) >= 0.5:
        return f"the rest is {_noun(speaker, cause)}, almost no GPU work"
    return f"{where}{_takes(speaker, cause)}"


def _graphs(speaker: Speaker) -> str:
    busy = speaker.ledger.busy_ratio or 0.0
    kinds = speaker.why.steps.kinds if speaker.is_steady else None
    if not kinds:
        return f"The GPU is busy {per_cent(busy)} with graph replays, their inside unrecorded."
    replays = counted(kinds[0].count, "graph replay")
    return f"The GPU is busy {per_cent(busy)}; {replays} of {duration(kinds[0].med_ns)}, their inside unrecorded."


def _running(speaker: Speaker, of: str = " of the time") -> str:
    """Return how much of the scope the GPU computes."""
    if speaker.ledger.gpu_complete is False:
        return f"The GPU computes at least {per_cent(speaker.share('work'))}{of}"
    started = speaker.is_steady and speaker.outside_ns >= 0.01 * speaker.ledger.wall_ns
    begin = "Once running, the" if started else "The"
    return f"{begin} GPU computes {per_cent(speaker.share('work'))}{of}"


def _computes(speaker: Speaker) -> str:
    if speaker.diagnosis.primary == "mixed":
        return f"{_running(speaker)}; no other cause takes a tenth."
    if speaker.start_up_ns >= 0.5 * speaker.ledger.wall_ns:
        return f"{_running(speaker)}; over half the recording is start-up."
    return f"{_running(speaker)}{_steps(speaker)}."


def _steps(speaker: Speaker) -> str:
    """Return what the steps are like: `: 8 ms steps, some 11 ms`, `, in 4,095 steps`."""
    kinds = speaker.why.steps.kinds if speaker.is_steady else None
    if not kinds:
        return ""
    often = [kind for kind in kinds if kind.steady_count >= 0.05 * speaker.why.steps.count]
    if all(kind.p95_ns <= _ALIKE * kind.med_ns for kind in often):
        first = duration(often[0].med_ns)
        others = [duration(kind.med_ns) for kind in often[1:] if kind.med_ns > _ALIKE * often[0].med_ns]
        return f": {_short(first)} steps{f', some {_short(others[0])}' if others else ''}"
    return f", in {some_of(speaker.why.steps.steady_count, speaker.why.steps.count, 'step')}"


def _short(text: str) -> str:
    """Return a duration without the digits behind its point."""
    number, unit = text.split(" ")
    return f"{float(number.replace(',', '')):.0f} {unit}" if float(number.replace(",", "")) >= 2 else text


def of_time(ratio: float) -> str:
    """Return a share of the time: `95 % of the time`."""
    return f"{per_cent(ratio)} of the time"
