"""The verdict: what a person should know first, in at most fifteen words.

It is made from findings and phases of the run, never from other sentences, and speaks of the steady part where there
is one. Every number says what it is a share of; bounds say "at least".
"""

from wallsplit.analysis import Analysis
from wallsplit.model.error_codes import OUT_OF_MEMORY, in_words
from wallsplit.words.amounts import between, counted, duration, how_many, per_cent
from wallsplit.words.gpu_verdict import capital, of_gpu, of_time
from wallsplit.words.headline import of_gpus
from wallsplit.words.speakers import Speaker, speakers, worst

APART = 0.10
"""GPUs whose shares differ by more are judged apart."""
_FIRST = ("abstain", "failed_calls", "startup", "unseen_wait", "few_operations")
"""Findings that are about the run, not about its GPUs: the worst speaks for all."""


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
    return sharing or (_of_several(every) if len(every) > 1 else None) or of_gpu(worst(every))


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
    ledgers = of_gpus(analysis.ledgers)
    if not ledgers:
        has_cuda = any(ledger.accounts["cuda.launch"] is not None for ledger in analysis.ledgers)
        return "GPU work was not recorded." if has_cuda else "No CUDA work was recorded."
    ratios = [ledger.kernel_active_ratio or 0.0 for ledger in ledgers]
    least = "at least " if any(ledger.gpu_complete is False for ledger in ledgers) else ""
    who = "The GPU computes" if len(ledgers) == 1 else f"{counted(len(ledgers), 'GPU')} compute"
    return capital(f"{who} {least}{between(ratios)} of the time.")


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
    for speaker in every:
        if speaker.diagnosis.primary == "shared_gpu":
            pids = {ledger.pid for ledger in analysis.ledgers if ledger.gpu == speaker.ledger.gpu}
            busy = analysis.gpus.filter(analysis.gpus["gpu"] == speaker.ledger.gpu)["busy_ratio"]
            if len(pids) > 1 and len(busy):
                return capital(f"{how_many(len(pids))} processes share this GPU; it is busy {of_time(busy[0])}.")
    return None


def _of_several(every: tuple[Speaker, ...]) -> str | None:
    """Return the verdict on several GPUs; None where the worst of them speaks for all."""
    if any(speaker.diagnosis.primary in _FIRST for speaker in every):
        return None
    all_of = "Both" if len(every) == 2 else f"All {how_many(len(every))}"
    least = "at least " if any(speaker.ledger.gpu_complete is False for speaker in every) else ""
    copying = [speaker.share("transfer") for speaker in every]
    if min(copying) >= 0.5:
        return f"{all_of} GPUs copy {least}{between(copying)} of the time."
    work = [speaker.share("work") for speaker in every]
    if max(work) - min(work) > APART:
        low, high = (
            min(every, key=lambda speaker: speaker.share("work")),
            max(every, key=lambda speaker: speaker.share("work")),
        )
        return (
            f"GPU {low.ledger.gpu} computes {least}{per_cent(low.share('work'))} of the time, "
            f"GPU {high.ledger.gpu} {per_cent(high.share('work'))}."
        )
    comm = [speaker.share("comm") for speaker in every]
    exposed = f"; exposed communication takes {between(comm)}" if max(comm) >= 0.01 else ""
    about = "about " if len({per_cent(share) for share in work}) > 1 else ""
    return f"{all_of} GPUs compute {least}{about}{per_cent(sum(work) / len(work))} of the time{exposed}."
