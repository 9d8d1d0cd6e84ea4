"""Whose explanation is told first: of each GPU that of the process with the most work on it."""

from wallsplit.analysis import Analysis
from wallsplit.diagnosis.diagnosis import Diagnosis, Finding
from wallsplit.diagnosis.explanation import Explanation
from wallsplit.frozen import dataclass
from wallsplit.ledger.ledger import Ledger
from wallsplit.words.headline import of_gpus


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

    def share(self, *causes: str) -> float:
        """Return the share of the scope that the causes take together."""
        scope = self.diagnosis.scope
        return sum(scope.causes[cause] for cause in causes) / scope.size_ns if scope and scope.size_ns else 0.0

    def finding(self, cause: str) -> Finding | None:
        """Return the finding of that cause; None where it was not found."""
        return next((finding for finding in self.diagnosis.findings if finding.cause == cause), None)

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
    return tuple(one for one in every if (one.ledger.pid, one.ledger.device) in chosen) or every


def worst(every: tuple[Speaker, ...]) -> Speaker:
    """Return the speaker with the most to win, of equal ones the first."""
    return max(every, key=lambda one: one.diagnosis.findings[0].prize_upper_ns if one.diagnosis.findings else 0)
