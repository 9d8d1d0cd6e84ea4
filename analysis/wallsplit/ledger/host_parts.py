"""The account `host`, split: by phase, then blocked in the operating system, then running (docs/ledger.md)."""

from dataclasses import dataclass

import numpy as np

from wallsplit.accounts import ACCOUNTS, HOST
from wallsplit.errors import LedgerError
from wallsplit.ledger.host import HostTimelines
from wallsplit.ledger.labels import NONE
from wallsplit.ledger.ledger import Ledger
from wallsplit.ledger.phases import PHASE_NAMES
from wallsplit.ledger.pieces import Pieces
from wallsplit.ledger.timeline import summed

BLOCKED = "host.blocked"
RUN = "host.run"


@dataclass(frozen=True)
class HostMeasured:
    """What the trace can tell about the host."""

    ranges: bool
    """A driving thread has NVTX ranges."""
    os_calls: bool
    """OS runtime calls of a driving thread were traced; otherwise `host.run` is running or waiting, not told apart."""


def host_measured(host: HostTimelines) -> HostMeasured:
    """Return what the trace can tell about the host."""
    return HostMeasured(host.has_ranges, host.has_os_calls)


def host_parts(pieces: Pieces, host: HostTimelines, ledger: Ledger) -> dict[str, int]:
    """Return the parts of `host` in ns by name, sorted: `host.<phase>`, `host.blocked`, `host.run`.

    Time in a named phase is the phase's, blocked or not. `host.blocked` is absent where OS calls were not traced.

    Raises:
        LedgerError: the parts do not sum to `host`.
    """
    inside = np.flatnonzero(pieces.account == ACCOUNTS.index(HOST))
    phase, call = pieces.phase[inside].astype(np.int64), pieces.call[inside]
    blocked, run = len(PHASE_NAMES), len(PHASE_NAMES) + 1
    part = np.where(phase != NONE, phase, np.where(call != NONE, blocked, run))
    ns = summed(part, pieces.ns[inside], run + 1)
    parts = {f"host.{name}": int(value) for name, value in zip(PHASE_NAMES, ns, strict=False) if value}
    if host.has_os_calls:
        parts[BLOCKED] = int(ns[blocked])
    parts[RUN] = int(ns[run])
    if sum(parts.values()) != ledger.accounts[HOST]:
        raise LedgerError(
            f"ledger of process {ledger.pid}, device {ledger.device}: the parts of host sum to {sum(parts.values())} "
            f"ns, host has {ledger.accounts[HOST]} ns; this is a defect of wallsplit, please report it"
        )
    return dict(sorted(parts.items()))
