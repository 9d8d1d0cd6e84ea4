"""Where the time went in which no operation of a ledger ran, and why: all that is known of it, as one value."""

from wallsplit.frozen import dataclass
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.host import HostTimelines
from wallsplit.ledger.host_parts import HostMeasured, host_measured, host_parts
from wallsplit.ledger.ledger import Ledger
from wallsplit.ledger.pieces import Pieces
from wallsplit.model import Model
from wallsplit.schema import IdleCauses
from wallsplit.why.causes import CauseTimeline, cause_timeline
from wallsplit.why.gaps import IdleGaps, idle_gaps
from wallsplit.why.idle import idle_causes, idle_ns


@dataclass(frozen=True, eq=False)
class IdleTime:
    """The idle time of one ledger."""

    idle_ns: int
    """The window without the operations of the ledger; of a ledger without GPU rows all of it."""
    host_parts: dict[str, int]
    """The account `host`, split; the parts sum to it."""
    host_measured: HostMeasured
    idle_causes: IdleCauses
    """They sum to the idle time, but for what another process works on the same GPU."""
    gaps: IdleGaps | None
    """None for a process without any CUDA row."""
    causes: dict[str, int] | None
    """The ns of each of CAUSES; they sum to the window. None without a device."""


def idle_time(
    model: Model, activity: Activity, host: HostTimelines, pieces: Pieces, causes: CauseTimeline | None, ledger: Ledger
) -> IdleTime:
    """Return the idle time of a ledger; `causes` as `causes_of` returns them.

    Raises:
        LedgerError: some parts do not sum to their whole.
    """
    return IdleTime(
        idle_ns=idle_ns(ledger),
        host_parts=host_parts(pieces, host, [ledger])[0],
        host_measured=host_measured(host),
        idle_causes=idle_causes(pieces, model.names, ledger),
        gaps=None if activity.rows is None else idle_gaps(model, activity, host.ranges, pieces, ledger),
        causes=None if causes is None else causes.window(),
    )


def causes_of(model: Model, activity: Activity, pieces: Pieces) -> CauseTimeline | None:
    """Return the cause of every instant of the pieces' window; None without a device."""
    return None if activity.device is None else cause_timeline(pieces, activity, model.names)
