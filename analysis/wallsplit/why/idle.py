"""Idle time by what was going on: a row per combination that occurs; other views roll it up (docs/idle-time.md)."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from wallsplit.accounts import ACCOUNTS, HOST, OTHER_PROCESS
from wallsplit.errors import LedgerError
from wallsplit.ledger.labels import NONE
from wallsplit.ledger.ledger import Ledger
from wallsplit.ledger.os_calls import os_class
from wallsplit.ledger.phases import PHASE_NAMES
from wallsplit.ledger.pieces import IDLE, POSITIONS, Pieces
from wallsplit.ledger.timeline import summed
from wallsplit.model import Names
from wallsplit.schema import IDLE_CAUSES, IdleCauses, conform

DEVICE = "device"
"""`elsewhere` while another device of the process works."""
FIRST = "first"
"""`call_class` of a launch call that launches something for the first time."""


def idle_causes(pieces: Pieces, names: Names, ledger: Ledger) -> IdleCauses:
    """Return the ns of each combination (schema.IDLE_CAUSES) in the window, most first.

    Raises:
        LedgerError: they do not sum to the time in which no process works on the GPU.
    """
    frame = as_frame(combinations(pieces, names))
    total, idle = int(frame["ns"].sum()), idle_ns(ledger) - (ledger.accounts[OTHER_PROCESS] or 0)
    if total != idle:
        raise LedgerError(
            f"ledger of process {ledger.pid}, device {ledger.device}: the causes of idle time sum to {total} ns, it "
            f"is {idle} ns; this is a defect of wallsplit, please report it"
        )
    return frame


def idle_ns(ledger: Ledger) -> int:
    """Return the ns of the window in which no operation of the ledger runs; of one without GPU rows, all of it."""
    return ledger.wall_ns - (ledger.gpu_busy_ns or 0)


def as_frame(rows: Sequence[tuple[str | int | None, ...]]) -> IdleCauses:
    """Return rows of `combinations` as schema.IDLE_CAUSES."""
    return IdleCauses(conform(pl.DataFrame(rows, schema=IDLE_CAUSES, orient="row"), IDLE_CAUSES, "idle_causes"))


def combinations(pieces: Pieces, names: Names) -> list[tuple[str | int | None, ...]]:
    """Return a row for each combination (schema.IDLE_CAUSES) that occurs in the idle pieces, most ns first.

    Equal ones come in text order. What is summed are numbers; names become text for the few rows that are left.
    """
    told = pieces.situations
    idle = np.flatnonzero(IDLE[told.account])
    ns = summed(told.of_pieces, pieces.ns, len(told))
    columns = (told.account, told.position, told.phase, told.elsewhere, told.call, ns)
    places = (column[idle].tolist() for column in columns)
    rows = [(_texts(place, names), ns) for *place, ns in zip(*places, strict=True)]
    rows.sort(key=lambda row: (-row[1], str(row[0])))
    return [(*texts, ns) for texts, ns in rows]


def _texts(place: Sequence[int], names: Names) -> tuple[str | None, ...]:
    """Return account, position, phase, call, call_class and elsewhere of one combination."""
    account, position, phase, elsewhere, call = place
    return (
        ACCOUNTS[account],
        POSITIONS[position],
        None if phase == NONE else PHASE_NAMES[phase],
        *_call(ACCOUNTS[account], call, names),
        DEVICE if elsewhere else None,
    )


def _call(account: str, code: int, names: Names) -> tuple[str | None, str | None]:
    if code == NONE:
        return None, None
    if account == HOST:
        return names[code], os_class(names[code])
    return names[code // 2], FIRST if code % 2 else None
