"""Whose explanation is told first: of each GPU that of the process with the most work on it."""

from wallsplit.accounts import HOST
from wallsplit.analysis import Analysis
from wallsplit.diagnosis.diagnosis import Diagnosis, Finding
from wallsplit.diagnosis.explanation import Explanation
from wallsplit.diagnosis.paid_once import paid_once
from wallsplit.diagnosis.rules import FEW_BUSY_SHARE
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Ledger
from wallsplit.words.headline import of_gpus

_MOSTLY = 0.8


@dataclass(frozen=True, eq=False)
class Speaker:
    """A ledger, and why its time went where it went."""

    ledger: Ledger
    why: Explanation

    @property
    def diagnosis(self) -> Diagnosis:
        """What was found."""
        return self.why.diagnosis

    @property
    def is_steady(self) -> bool:
        """Whether the findings speak of steady steps."""
        return self.diagnosis.phases_of_run is not None

    @property
    def scope_ns(self) -> int:
        """The length of what the findings speak of."""
        return self.diagnosis.scope.size_ns if self.diagnosis.scope else self.ledger.wall_ns

    @property
    def outside_ns(self) -> int:
        """The rest of the window."""
        return self.ledger.wall_ns - self.scope_ns

    @property
    def on_cuda_ns(self) -> int:
        """What is no host code: without GPU work, the time in CUDA calls."""
        return self.ledger.wall_ns - (self.ledger.accounts[HOST] or 0)

    def share(self, *causes: str) -> float:
        """Return the share of the scope that the causes take together."""
        scope = self.diagnosis.scope
        return sum(scope.causes[cause] for cause in causes) / scope.size_ns if scope and scope.size_ns else 0.0

    def finding(self, cause: str) -> Finding | None:
        """Return the finding of that cause; None where it was not found."""
        return next((finding for finding in self.diagnosis.findings if finding.cause == cause), None)

    @property
    def paid_once(self) -> Finding | None:
        """The idle time that is paid once: the finding, or the same of a smaller share; None where nothing is known."""
        scope, causes = self.diagnosis.scope, self.diagnosis.causes
        if scope is None or causes is None:
            return None
        return self.finding("startup") or paid_once(causes, scope, self.ledger.wall_ns)

    @property
    def loads_code(self) -> bool:
        """Whether what was found is loading code amid the GPU's work, not start-up before steps."""
        once = self.finding("startup")
        loading = (once.parts or {}).get("loading", 0) if once else 0
        return not self.is_steady and once is not None and loading >= _MOSTLY * once.prize_upper_ns

    @property
    def start_up_ns(self) -> int:
        """What is called start-up: what is paid once where that was found, else all until the steps are steady.

        Where no steps are steady either, it is what is paid once. 0 where nothing is known.
        """
        once, phases = self.paid_once, self.diagnosis.phases_of_run
        if once is None:
            return 0
        if phases and not self.finding("startup"):
            return phases[0].end_ns - phases[0].start_ns
        return once.prize_upper_ns

    @property
    def graph_share(self) -> float:
        """The share of the scope in which only graphs run that were recorded as a whole."""
        phases = self.diagnosis.phases_of_run
        accounts = phases[1].accounts if phases else self.ledger.accounts
        return (accounts["gpu.graph"] or 0) / self.scope_ns if self.scope_ns else 0.0


def speakers(analysis: Analysis) -> tuple[Speaker, ...]:
    """Return one speaker per GPU, in order; without a ledger on a GPU, one per process; none for many windows."""
    if analysis.explained is None:
        return ()
    pairs = zip(analysis.ledgers, analysis.explained.ledgers, strict=True)
    every = tuple(Speaker(ledger, why) for ledger, why in pairs)
    chosen = {(ledger.pid, ledger.device) for ledger in of_gpus(analysis.ledgers)}
    return tuple(speaker for speaker in every if (speaker.ledger.pid, speaker.ledger.device) in chosen) or every


def worst(every: tuple[Speaker, ...]) -> Speaker:
    """Return the speaker with the most to win, of equal ones the first: all figures are of it.

    Where no GPU does anything yet, it is one that says so.
    """
    idle = tuple(speaker for speaker in every if speaker.finding("few_operations"))
    is_idle = all((speaker.ledger.busy_ratio or 0.0) < FEW_BUSY_SHARE for speaker in every)
    return max(idle if idle and is_idle else every, key=_to_win_ns)


def _to_win_ns(speaker: Speaker) -> int:
    return speaker.diagnosis.findings[0].prize_upper_ns if speaker.diagnosis.findings else 0
