"""The ledger: every nanosecond booked once."""

from wallsplit.accounts import ACCOUNTS, GPU_ACCOUNTS, MEANINGS, OTHER_PROCESS, PART_OF
from wallsplit.analysis import Analysis
from wallsplit.ledger.ledger import Ledger
from wallsplit.report.document import AtLeast, AtMost, Cell, Column, Paragraph, Section, Table
from wallsplit.words.headline import account_percents
from wallsplit.words.labels import ledger_label

MOST = 8
"""Ledgers shown account by account: more say less."""

_TIME = Column("time", "ns", "not measured", brief=True)
_COLUMNS = (
    Column("account", brief=True),
    _TIME,
    Column("of wall", "percent", "not measured", bar=True, brief=True),
    Column("what happens meanwhile"),
)


def ledger(analysis: Analysis, _top: int) -> Section | None:
    """Return the accounts of each ledger with their sum; None without a ledger."""
    if not analysis.ledgers:
        return None
    blocks: list[Paragraph | Table] = []
    for booked in analysis.ledgers[:MOST]:
        blocks += [accounts(booked, ledger_label(analysis, booked)), Paragraph(balance(booked), essential=True)]
        blocks += [_host_parts(booked, ledger_label(analysis, booked))] if booked.host_parts else []
    if len(analysis.ledgers) > MOST:
        left_out = f"The first {MOST} of {len(analysis.ledgers)} ledgers; the JSON output has all."
        blocks.append(Paragraph(left_out, essential=True))
    return Section("ledger", "The ledger", tuple(blocks))


def accounts(ledger: Ledger, label: str) -> Table:
    """Return the accounts of a ledger, in order of priority."""
    percents = account_percents(ledger)
    rows = []
    for account in ACCOUNTS:
        time = ledger.accounts[account]
        on_gpu = account in GPU_ACCOUNTS
        cells: tuple[Cell, ...] = (time, percents[account])
        if time is None or (account in (*GPU_ACCOUNTS, OTHER_PROCESS) and ledger.device is None):
            cells = (None, None)
        elif ledger.device is not None and ledger.gpu_complete is False and (on_gpu or time):  # at most 0 is 0
            bound = AtLeast if on_gpu else AtMost  # what the GPU did unrecorded was booked as idle
            cells = (bound(time), bound(percents[account]))
        rows.append((account, *cells, _meaning(ledger, account)))
    colours = tuple(PART_OF[account].key for account in ACCOUNTS)
    caption, folded_by = f"Accounts of {label}", _COLUMNS.index(_TIME)
    return Table(caption, _COLUMNS, tuple(rows), len(rows), colours=colours, essential=True, folded_by=folded_by)


def balance(ledger: Ledger) -> str:
    """Return the proof that nothing is counted twice or lost."""
    equal = "sum = wall" if ledger.residual_ns == 0 else "sum ≠ wall"
    return f"{equal}, residual {ledger.residual_ns} ns ({ledger.wall_ns:,} ns in all)."


def _meaning(ledger: Ledger, account: str) -> str:
    """Return the account's meaning; where nothing is known of the GPU, not a word about it being idle."""
    if ledger.device is not None:
        return MEANINGS[account]
    return MEANINGS[account].removeprefix("GPU idle; ").removeprefix("GPU idle, no CUDA call: ")


def _host_parts(ledger: Ledger, label: str) -> Table:
    parts = ledger.host_parts or {}
    rows = tuple((name, time, time / ledger.wall_ns if ledger.wall_ns else 0.0) for name, time in parts.items())
    return Table(
        f"Parts of host of {label}", (Column("part"), Column("time", "ns"), Column("of wall", "ratio")), rows, len(rows)
    )
