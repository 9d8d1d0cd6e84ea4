"""The account `host`, split: by phase, then blocked in the operating system, then running (docs/ledger.md)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wallsplit.accounts import ACCOUNTS, HOST
from wallsplit.errors import LedgerError
from wallsplit.frozen import dataclass
from wallsplit.ledger.host import HostTimelines
from wallsplit.ledger.labels import NONE
from wallsplit.ledger.ledger import Ledger
from wallsplit.ledger.phases import PHASE_NAMES
from wallsplit.ledger.pieces import Pieces
from wallsplit.ledger.timeline import booked_in

BLOCKED = "host.blocked"
RUN = "host.run"
NAMES = (*(f"host.{name}" for name in PHASE_NAMES), BLOCKED, RUN)
"""Every part."""


@dataclass(frozen=True)
class HostMeasured:
    """What the trace can tell about the host."""

    ranges: bool
    """A driving thread has NVTX ranges."""
    os_calls: bool
    """OS runtime calls of a driving thread were traced; otherwise `host.run` is running or waiting, not told apart."""


def host_measured(host: HostTimelines) -> HostMeasured:
    """Return what the trace can tell about the host."""
    return HostMeasured(len(host.ranges) > 0, host.has_os_calls)


def codes(pieces: Pieces) -> npt.NDArray[np.uint8]:
    """Return the position in NAMES of the part of `host` that each piece is; len(NAMES) where it is no host code."""
    told = pieces.situations
    without_phase = np.where(told.call != NONE, NAMES.index(BLOCKED), NAMES.index(RUN))
    part = np.where(told.phase != NONE, told.phase, without_phase).astype(np.uint8)
    part[told.account != ACCOUNTS.index(HOST)] = len(NAMES)
    return np.asarray(part[told.of_pieces])


def host_parts(pieces: Pieces, host: HostTimelines, ledgers: Sequence[Ledger]) -> tuple[dict[str, int], ...]:
    """Return the parts of `host` of each ledger, in ns by name, sorted: `host.<phase>`, `host.blocked`, `host.run`.

    The ledgers are of one activity, each in its own window inside the pieces', or in all of it. Time in a named phase
    is the phase's, blocked or not. `host.blocked` is absent where OS calls were not traced.

    Raises:
        LedgerError: the parts of a ledger do not sum to its `host`.
    """
    part, elsewhere = codes(pieces), len(NAMES)
    whole = int(pieces.times[0]), int(pieces.times[-1])
    windows = [(x.window.start_ns, x.window.end_ns) if x.window else whole for x in ledgers]
    table = booked_in(pieces.times, part, elsewhere + 1, windows, outside=elsewhere)
    return tuple(_parts(ns, host, ledger) for ns, ledger in zip(table[:, :elsewhere].tolist(), ledgers, strict=True))


def _parts(ns: list[int], host: HostTimelines, ledger: Ledger) -> dict[str, int]:
    *phases, blocked, run = ns
    parts = {f"host.{name}": value for name, value in zip(PHASE_NAMES, phases, strict=True) if value}
    if host.has_os_calls:
        parts[BLOCKED] = blocked
    parts[RUN] = run
    if sum(parts.values()) != ledger.accounts[HOST]:
        raise LedgerError(
            f"ledger of process {ledger.pid}, device {ledger.device}: the parts of host sum to {sum(parts.values())} "
            f"ns, host has {ledger.accounts[HOST]} ns; this is a defect of wallsplit, please report it"
        )
    return dict(sorted(parts.items()))
