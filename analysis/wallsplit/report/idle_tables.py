"""Idle time as tables: one row per part, combination, cause, class of gaps and long gap of each ledger."""

from collections.abc import Callable, Iterable, Sequence

import polars as pl

from wallsplit.accounts import ACCOUNTS, GPU_ACCOUNTS
from wallsplit.ledger.ledger import Ledger
from wallsplit.schema import CAUSES, HOST_PARTS, IDLE_CAUSES, IDLE_GAP_CLASSES, IDLE_GAPS
from wallsplit.why.gaps import IdleGap
from wallsplit.why.idle_time import IdleTime

Row = tuple[object, ...]


def idle_tables(ledgers: Sequence[Ledger], idle: Sequence[IdleTime]) -> dict[str, pl.DataFrame]:
    """Return the tables of the ledgers' idle times, by name; each begins with pid and device."""
    return {
        name: pl.DataFrame(
            [(ledger.pid, ledger.device, *row) for ledger, its in zip(ledgers, idle, strict=True) for row in rows(its)],
            schema={"pid": pl.Int64(), "device": pl.Int64(), **schema},
            orient="row",
        )
        for name, (schema, rows) in TABLES.items()
    }


def _host_parts(idle: IdleTime) -> Iterable[Row]:
    return idle.host_parts.items()


def _idle_causes(idle: IdleTime) -> Iterable[Row]:
    return idle.idle_causes.iter_rows()


def _causes(idle: IdleTime) -> Iterable[Row]:
    causes = idle.causes or {}
    return ((cause, ns, ns / sum(causes.values())) for cause, ns in causes.items())


def _gap_classes(idle: IdleTime) -> Iterable[Row]:
    accounts = [account for account in ACCOUNTS if account not in GPU_ACCOUNTS]
    for each in idle.gaps.histogram if idle.gaps else ():
        yield each.name, each.count, each.total_ns, *(each.by_account.get(account, 0) for account in accounts)


def _gaps(idle: IdleTime) -> Iterable[Row]:
    return map(_gap, idle.gaps.longest if idle.gaps else ())


def _gap(gap: IdleGap) -> Row:
    beside = gap.neighbours
    call = beside.next_call
    return (
        *(gap.start_ns, gap.end_ns, gap.length_ns, gap.position, gap.cause, gap.range, beside.previous, beside.next),
        *((None,) * 4 if call is None else (call.name, call.tid, call.start_ns, call.end_ns)),
    )


TABLES: dict[str, tuple[pl.Schema, Callable[[IdleTime], Iterable[Row]]]] = {
    "host_parts": (HOST_PARTS, _host_parts),
    "idle_causes": (IDLE_CAUSES, _idle_causes),
    "causes": (CAUSES, _causes),
    "idle_gap_classes": (IDLE_GAP_CLASSES, _gap_classes),
    "idle_gaps": (IDLE_GAPS, _gaps),
}
