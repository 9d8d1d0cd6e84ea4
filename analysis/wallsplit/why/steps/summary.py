"""The steps of a process on one device as a value: where they are, what they take, and what lies outside them."""

import numpy as np
import polars as pl

from wallsplit.accounts import ACCOUNTS
from wallsplit.errors import LedgerError
from wallsplit.frozen import dataclass
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.ledger.phases import PHASES, PhaseRule
from wallsplit.ledger.timeline import accounts_between
from wallsplit.model import Model
from wallsplit.ranks import ranked, rows_of_each
from wallsplit.schema import STEP_ACCOUNTS, STEP_ROWS, StepAccounts, StepRows, conform, empty
from wallsplit.why.steps.figures import StepKind, step_kind, warm_up
from wallsplit.why.steps.find import FoundSteps, find
from wallsplit.why.steps.roles import roles
from wallsplit.why.steps.units import Ints

KINDS_SHOWN = 6
SLOWEST = 5


@dataclass(frozen=True)
class SlowStep:
    """A step that takes long."""

    index: int
    """Its row."""
    start_ns: int
    ns: int
    excess_account: str | None
    """The account that exceeds its median most; None where accounts are not measured."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of one process on one device in a window. All but the first four fields are None without steps."""

    source: str | None
    """What told them: `nvtx` ranges named so, a `cycle` of launches, an `nvtx_cycle` of ranges on a CPU."""
    reason: str | None
    """Why there are none."""
    count: int
    rows: StepRows
    """Every step, as schema.STEP_ROWS."""
    accounts: StepAccounts | None = None
    """What each step takes of each account, as schema.STEP_ACCOUNTS; None, too, where accounts are not measured."""
    boundary: str | None = None
    """Where a step begins: `gpu`, with its first operation; `host`, with its range.

    Where first operations do not ascend, on several streams, `gpu` steps begin when the host does: at `host_start`.
    """
    kinds: tuple[StepKind, ...] | None = None
    """The most frequent first; of equally frequent ones, the earlier."""
    other_kinds_count: int | None = None
    """Steps of the kinds beyond those."""
    steps_total_ns: int | None = None
    accounts_in_steps_ns: dict[str, int] | None = None
    """What the steps take of each account; None, too, where accounts are not measured."""
    accounts_outside_ns: dict[str, int] | None = None
    """What is left: together they are the ledger."""
    before_ns: int | None = None
    after_ns: int | None = None
    slowest: tuple[SlowStep, ...] | None = None
    """The slowest steady steps of the most frequent kind."""
    first_start_ns: int | None = None

    @property
    def steady_count(self) -> int:
        """Steps after warm-up, of all kinds."""
        return sum(kind.steady_count for kind in self.kinds or ()) + (self.other_kinds_count or 0)


def steps(
    model: Model,
    activity: Activity,
    window: Window,
    *,
    hide_ranges: bool = False,
    rules: tuple[PhaseRule, ...] = PHASES,
) -> Steps:
    """Return the steps of an activity in a window, clipped to it.

    `hide_ranges`: as if the trace had no NVTX ranges. `rules` say which names of ranges mean which phase.

    Raises:
        LedgerError: the accounts of the steps do not add up to their length, or exceed the ledger.
    """
    found = find(model, activity, window, rules, hide_ranges=hide_ranges)
    if not len(found):
        return Steps(found.source, found.reason, 0, StepRows(empty(STEP_ROWS)))
    ns = found.end - found.start
    accounts = None if activity.layers is None else _accounts(activity, found)
    kinds, members = _kinds(found)
    warm_ups = [warm_up(ns[rows]) for rows in members[:KINDS_SHOWN]]
    role = roles(found, kinds, rules)
    shown = tuple(
        step_kind(
            ns[rows],
            None if accounts is None else accounts[rows],
            warmup_count,
            role.get(kind),
            found.names[kind] if found.names else None,
        )
        for kind, rows, warmup_count in zip(kinds, members, warm_ups, strict=False)
    )
    inside, outside = (None, None) if accounts is None else _inside_and_outside(activity, window, accounts, ns)
    return Steps(
        source=found.source,
        reason=None,
        count=len(found),
        rows=_rows(found, members),
        accounts=None if accounts is None else StepAccounts(pl.DataFrame(accounts, STEP_ACCOUNTS)),
        boundary=found.boundary,
        kinds=shown,
        other_kinds_count=sum(len(rows) for rows in members[KINDS_SHOWN:]),
        steps_total_ns=int(ns.sum()),
        accounts_in_steps_ns=inside,
        accounts_outside_ns=outside,
        before_ns=int(found.start[0]) - window.start_ns,
        after_ns=window.end_ns - int(found.end[-1]),
        slowest=_slowest(found, members[0][warm_ups[0] or 0 :], shown[0], accounts),
        first_start_ns=int(found.start[0]),
    )


def _kinds(found: FoundSteps) -> tuple[list[int], list[Ints]]:
    """Return the kinds and the steps of each, the most frequent first; of equally frequent ones, the earlier."""
    kinds, place = ranked(found.kind)
    by_kind = rows_of_each(place, len(kinds))
    order = sorted(range(len(kinds)), key=lambda kind: (-len(by_kind[kind]), int(by_kind[kind][0])))
    return kinds[order].tolist(), [by_kind[kind] for kind in order]


def _accounts(activity: Activity, found: FoundSteps) -> Ints:
    """Return the ns of each account in each step: a row per step, accounts in order."""
    bounds = np.column_stack([found.start, found.end]).ravel()
    return accounts_between(activity.timeline, bounds)[::2]


def _inside_and_outside(
    activity: Activity, window: Window, accounts: Ints, ns: Ints
) -> tuple[dict[str, int], dict[str, int]]:
    ledger = accounts_between(activity.timeline, np.array([window.start_ns, window.end_ns]))[0]
    inside = accounts.sum(axis=0)
    outside = ledger - inside
    if (accounts.sum(axis=1) != ns).any() or (outside < 0).any():
        raise LedgerError(
            f"steps of process {activity.pid}, device {activity.device}: their accounts are {int(inside.sum())} ns, "
            f"they take {int(ns.sum())} ns of a window of {window.wall_ns} ns; "
            "this is a defect of wallsplit, please report it"
        )
    return _by_account(inside), _by_account(outside)


def _by_account(ns: Ints) -> dict[str, int]:
    return dict(zip(ACCOUNTS, ns.tolist(), strict=True))


def _slowest(found: FoundSteps, steady: Ints, kind: StepKind, accounts: Ints | None) -> tuple[SlowStep, ...]:
    ns = found.end - found.start
    slow = steady[np.argsort(-ns[steady], kind="stable")][:SLOWEST].tolist()
    medians = np.array(list((kind.accounts_med_ns or {}).values()))
    return tuple(
        SlowStep(
            index=row,
            start_ns=int(found.start[row]),
            ns=int(ns[row]),
            excess_account=None if accounts is None else ACCOUNTS[int(np.argmax(accounts[row] - medians))],
        )
        for row in slow
    )


def _rows(found: FoundSteps, members: list[Ints]) -> StepRows:
    place = np.empty(len(found), np.int32)
    for position, rows in enumerate(members):
        place[rows] = position
    columns = {"start": found.start, "end": found.end, "kind": place, "host_start": found.host_start}
    return StepRows(conform(pl.DataFrame(columns), STEP_ROWS, "steps"))
