"""The verdict: what a person should know first, in at most fifteen words, and the seconds behind it.

It is made from findings and phases of the run, never from other sentences, and speaks of the steady part where there
is one. Every number says what it is a share of; bounds say "at least".
"""

import re

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.ledger.ledger import Window
from wallsplit.model.error_codes import OUT_OF_MEMORY, in_words
from wallsplit.words.amounts import between, counted, duration, how_many, per_cent
from wallsplit.words.clauses import INFERRED, NOUNS, how_long, sms
from wallsplit.words.headline import of_gpus
from wallsplit.words.speakers import Speaker, speakers, worst

MOST_WORDS = 15
APART = 0.10
"""GPUs whose shares differ by more are judged apart."""
_ALIKE = 1.2
"""Steps whose 95th percentile is so many times their median, or less, are told by the median alone."""


def verdict(analysis: Analysis) -> str:
    """Return the verdict of an analysis."""
    if analysis.window is None or not analysis.ledgers:
        return "Nothing to account for: no CUDA, NVTX or OS runtime activity was recorded."
    every = speakers(analysis)
    if not every:
        return _of_many_windows(analysis)
    if every[0].ledger.device is None:
        return _without_gpu(analysis, worst(every))
    sharing = _sharing(analysis, every)
    return sharing or (_of_several(every) if len(every) > 1 else None) or _of_gpu(worst(every))


def seconds(analysis: Analysis) -> str:
    """Return the seconds behind the verdict: how long each phase of the run took, and that nothing is left over."""
    if analysis.window is None or not analysis.ledgers:
        return ""
    every = speakers(analysis)
    recorded = f"{units.ns(analysis.window.wall_ns)} {_of_what(analysis.window, explicit=analysis.window_is_explicit)}"
    residual = sum(abs(ledger.residual_ns) for ledger in analysis.ledgers)
    proof = f"sum = wall, residual {residual} ns"
    phases = next((one.diagnosis.phases_of_run for one in every if one.is_steady), None)
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


def _of_many_windows(analysis: Analysis) -> str:
    if not any(ledger.window for ledger in analysis.ledgers):
        return _unexplained(analysis)
    ledgers = [ledger for ledger in analysis.ledgers if ledger.kernel_active_ns is not None]
    if not ledgers:
        return f"In {counted(len(analysis.ledgers), 'window')} of {_typical(analysis)} no GPU work was recorded."
    share = sum(ledger.kernel_active_ns or 0 for ledger in ledgers) / sum(ledger.wall_ns for ledger in ledgers)
    least = "at least " if any(ledger.gpu_complete is False for ledger in ledgers) else ""
    return f"In {counted(len(ledgers), 'window')} of {_typical(analysis)} the GPU computes {least}{per_cent(share)}."


def _unexplained(analysis: Analysis) -> str:
    """Return the verdict where only the ledgers are known."""
    told = of_gpus(analysis.ledgers)
    if not told:
        has_cuda = any(ledger.accounts["cuda.launch"] is not None for ledger in analysis.ledgers)
        return "GPU work was not recorded." if has_cuda else "No CUDA work was recorded."
    ratios = [ledger.kernel_active_ratio or 0.0 for ledger in told]
    least = "at least " if any(ledger.gpu_complete is False for ledger in told) else ""
    who = "The GPU computes" if len(told) == 1 else f"{counted(len(told), 'GPU')} compute"
    return _capital(f"{who} {least}{between(ratios)} of the time.")


def _typical(analysis: Analysis) -> str:
    walls = sorted(ledger.wall_ns for ledger in analysis.ledgers)
    return duration(walls[len(walls) // 2])


def _without_gpu(analysis: Analysis, speaker: Speaker) -> str:
    primary, failed = speaker.diagnosis.primary, speaker.diagnosis.failed
    wall = duration(speaker.ledger.wall_ns)
    if primary == "no_cuda":
        return f"No CUDA work was recorded: {wall} of host code{_largest_host_part(speaker)}."
    if primary == "no_gpu_use":
        return f"The GPU was given no work in these {wall}."
    if failed and failed.code == OUT_OF_MEMORY:
        return f"Out of memory: {failed.call} failed; the program launched nothing."
    if failed:
        return f"A call failed, {in_words(failed.code)}; GPU work was not recorded."
    return "GPU work was not recorded; nothing can be said about the GPU."


def _largest_host_part(speaker: Speaker) -> str:
    phases = {name: ns for name, ns in (speaker.ledger.host_parts or {}).items() if name != "host.run"}
    if not phases:
        return ""
    name = max(phases, key=lambda part: phases[part])
    share = phases[name] / speaker.ledger.wall_ns
    if share < 0.1:
        return ""
    phase = name.removeprefix("host.")
    return f", {per_cent(share)} {phase if phase == 'blocked' else f'in {phase} ranges'}"


def _sharing(analysis: Analysis, every: tuple[Speaker, ...]) -> str | None:
    """Return the verdict on a GPU that processes share, where that is the first finding."""
    for one in every:
        if one.diagnosis.primary == "shared_gpu":
            pids = {ledger.pid for ledger in analysis.ledgers if ledger.gpu == one.ledger.gpu}
            busy = analysis.gpus.filter(analysis.gpus["gpu"] == one.ledger.gpu)["busy_ratio"]
            if len(pids) > 1 and len(busy):
                return _capital(f"{how_many(len(pids))} processes share this GPU; it is busy {_of_time(busy[0])}.")
    return None


def _of_time(ratio: float) -> str:
    return f"{per_cent(ratio)} of the time"


def _of_several(every: tuple[Speaker, ...]) -> str | None:
    """Return the verdict on several GPUs; None where the worst of them speaks for all."""
    if any(one.diagnosis.primary in _FIRST for one in every):
        return None
    all_of = "Both" if len(every) == 2 else f"All {how_many(len(every))}"
    least = "at least " if any(one.ledger.gpu_complete is False for one in every) else ""
    copying = [one.share("transfer") for one in every]
    if min(copying) >= 0.5:
        return f"{all_of} GPUs copy {least}{between(copying)} of the time."
    work = [one.share("work") for one in every]
    if max(work) - min(work) > APART:
        low, high = min(every, key=lambda one: one.share("work")), max(every, key=lambda one: one.share("work"))
        return (
            f"GPU {low.ledger.gpu} computes {least}{per_cent(low.share('work'))} of the time, "
            f"GPU {high.ledger.gpu} {per_cent(high.share('work'))}."
        )
    comm = [one.share("comm") for one in every]
    exposed = f"; exposed communication takes {between(comm)}" if max(comm) >= 0.01 else ""
    about = "about " if len({per_cent(share) for share in work}) > 1 else ""
    return f"{all_of} GPUs compute {least}{about}{per_cent(sum(work) / len(work))} of the time{exposed}."


_FIRST = ("abstain", "failed_calls", "startup", "unseen_wait", "few_operations")


def _of_gpu(one: Speaker) -> str:
    primary = one.diagnosis.primary
    if primary == "failed_calls":
        return _failed_calls(one)
    if primary == "startup":
        return _startup(one)
    if primary == "abstain":
        busy = one.ledger.busy_ratio or 0.0
        return f"The GPU is busy at least {_of_time(busy)}; the rest may be unrecorded work."
    if primary == "few_operations":
        return _capital(f"{_operations(one)}: nothing to tune on the GPU yet.")
    if primary == "unseen_wait":
        return f"Waits for something unseen take {_of_time(_share_of(one, primary))}: a hang, or lost records."
    if one.graph_share >= 0.5:
        return _graphs(one)
    if primary in ("gpu_bound", "mixed"):
        return _computes(one)
    if primary == "blocked":
        finding = one.finding(primary)
        return f"The GPU waits: the main thread sleeps {how_long(one, finding)}." if finding else _computes(one)
    if primary == "migration":
        return f"Page migrations run under kernels {_of_time(_share_of(one, primary))}."
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
    return _capital(f"{nothing}{what} failed, {in_words(failed.code)}.")


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _startup(one: Speaker) -> str:
    finding = one.finding("startup")
    if finding is None:
        return _computes(one)
    share, call = per_cent(finding.share_ratio), finding.longest_call
    loading = (finding.parts or {}).get("loading", 0)
    if not one.is_steady and loading >= 0.8 * finding.prize_upper_ns:
        return f"{_of_time(finding.share_ratio)} CUDA loads code; the GPU computes {per_cent(_work_of_window(one))}."
    if call and call.count == 1 and "Launch" in call.name and call.total_ns >= 0.9 * finding.prize_upper_ns:
        return f"{share} is one first launch loading code; {_afterwards(one)}."
    return _fitting(
        f"{share} of this recording is start-up; {_afterwards(one)}.", f"{share} is start-up; {_afterwards(one)}."
    )


def words(sentence: str) -> int:
    """Return how many words a sentence has; a number with its per cent sign is one."""
    return len(re.findall(r"[^\s%]+", sentence))


def _fitting(*variants: str) -> str:
    """Return the first variant that is no longer than a verdict may be, else the last one."""
    return next((variant for variant in variants if words(variant) <= MOST_WORDS), variants[-1])


def _work_of_window(one: Speaker) -> float:
    causes = one.diagnosis.causes or {}
    return causes.get("work", 0) / one.ledger.wall_ns


def _afterwards(one: Speaker) -> str:
    """Return what matters once start-up is over."""
    cause = one.diagnosis.in_scope or "mixed"
    if one.finding("few_operations"):
        return _operations(one)
    steps = one.why.steps
    where = f"in its {counted(steps.count, 'step')}, " if one.is_steady and steps.count > 1 else "then "
    if cause == "gpu_bound":
        return (
            "the GPU then computes" if not one.is_steady else f"{where}the GPU computes {per_cent(one.share('work'))}"
        )
    if cause == "small_grids":
        return f"then kernels use {sms(one) or 'few'} SMs"
    if cause == "mixed":
        return f"{where}the GPU computes {per_cent(one.share('work'))}"
    share = _share_of(one, cause)
    if not one.is_steady and share >= 0.5 and one.share("work") < 0.05:
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
    phases = one.diagnosis.phases_of_run
    once = phases[0].end_ns - phases[0].start_ns if phases else 0
    if once >= 0.5 * one.ledger.wall_ns:
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
    return f", in {counted(one.why.steps.count, 'step')}"


def _short(text: str) -> str:
    """Return a duration without the digits behind its point."""
    number, unit = text.split(" ")
    return f"{float(number.replace(',', '')):.0f} {unit}" if float(number.replace(",", "")) >= 2 else text
