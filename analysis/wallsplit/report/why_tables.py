"""What explains the ledgers as tables: typed, complete, a file each with `--tables`."""

from collections.abc import Iterable, Sequence

import polars as pl

from wallsplit.accounts import ACCOUNTS
from wallsplit.diagnosis.diagnosis import Diagnosis
from wallsplit.diagnosis.explanation import Explained, Explanation
from wallsplit.diagnosis.remedies import remedy
from wallsplit.ledger.ledger import Ledger
from wallsplit.report.idle_tables import idle_tables
from wallsplit.schema import DIAGNOSIS, PHASES_OF_RUN, STEPS
from wallsplit.why import comm, copies, launch, sm, sync
from wallsplit.words.findings import Case, because

Key = tuple[int, int | None]
Rows = Iterable[tuple[object, ...]]


def why_tables(ledgers: Sequence[Ledger], explained: Explained) -> dict[str, pl.DataFrame]:
    """Return the tables by name; those of ledgers begin with pid and device."""
    whys = explained.ledgers
    keys: list[Key] = [(ledger.pid, ledger.device) for ledger in ledgers]
    pairs = list(zip(keys, whys, strict=True))
    return {
        **idle_tables(ledgers, [why.idle for why in whys]),
        "steps": pl.concat([STEPS.to_frame(), *(_steps(key, why) for key, why in pairs)]),
        "phases_of_run": pl.DataFrame(_phases(pairs), PHASES_OF_RUN, orient="row"),
        "sm": sm.table((*key, why.sm) for key, why in pairs),
        "launch": launch.table((*key, why.launch) for key, why in pairs),
        "sync": sync.table((*key, why.sync) for key, why in pairs),
        "copies": copies.table((*key, why.sync.copies) for key, why in pairs if why.sync),
        "comm": comm.table((*key, why.comm) for key, why in pairs),
        "rank_skew": comm.rank_skew_table(explained.rank_skew),
        "diagnosis": pl.DataFrame(_diagnoses(ledgers, explained), DIAGNOSIS, orient="row"),
        "memory_use": explained.memory_over_time,
        "range_threads": explained.range_threads,
    }


def _steps(key: Key, why: Explanation) -> pl.DataFrame:
    """Return every step with its accounts, which are null where they are not measured."""
    rows, accounts = why.steps.rows, why.steps.accounts
    whose = [pl.lit(value, pl.Int64).alias(name) for name, value in zip(("pid", "device"), key, strict=True)]
    own = rows.with_columns(*whose)
    if accounts is None:
        own = own.with_columns(pl.lit(None, pl.Int64).alias(f"{account}_ns") for account in ACCOUNTS)
    else:
        own = own.hstack(accounts)
    return own.select(STEPS.names())


def _phases(pairs: Iterable[tuple[Key, Explanation]]) -> Rows:
    return [
        (*key, phase.name, phase.start_ns, phase.end_ns, *(phase.accounts[account] for account in ACCOUNTS))
        for key, why in pairs
        for phase in why.diagnosis.phases_of_run or ()
    ]


def _diagnoses(ledgers: Sequence[Ledger], explained: Explained) -> Rows:
    """Return a row per finding, in order; for a ledger without findings one that says why."""
    for ledger, why in zip(ledgers, explained.ledgers, strict=True):
        diagnosis = why.diagnosis
        if not diagnosis.findings:
            yield *_head(ledger, diagnosis, 0, diagnosis.primary), None, None, None, diagnosis.evidence
        for place, finding in enumerate(diagnosis.findings):
            prize = (finding.share_ratio, finding.prize_upper_ns, finding.prize_upper_ratio)
            yield (
                *_head(ledger, diagnosis, place, finding.cause),
                *prize,
                because(Case(ledger, why, finding, explained)),
            )


def _head(ledger: Ledger, diagnosis: Diagnosis, place: int, cause: str) -> tuple[object, ...]:
    return ledger.pid, ledger.device, place, cause, remedy(cause, diagnosis.framework)
