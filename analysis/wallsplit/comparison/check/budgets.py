"""Budgets out of a TOML file. What could never apply is refused: a budget that is silently skipped guards nothing."""

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from wallsplit.comparison.check.figures import BUSY, CHOICES, WALL, Kind, kind
from wallsplit.comparison.units import RUN, checked
from wallsplit.errors import BudgetError, ComparisonError
from wallsplit.frozen import dataclass
from wallsplit.ledger.windows import UNITS_NS

Severity = Literal["error", "warning"]
WhenUnknown = Literal["fail", "skip"]
LimitKind = Literal["ns", "ratio", "count"]

_CHECK_KEYS = ("per", "window", "baseline")
_BUDGET_KEYS = ("name", "figure", "max", "min", "regression", "floor", "severity", "when_unknown")
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(\S*)\s*")
_WRITTEN = {"ns": "a time (10 ms)", "ratio": "per cent (20 %)", "count": "a number (1200)"}


LESS_IS_WORSE = (BUSY,)
"""Figures of which a regression is a decrease."""


@dataclass(frozen=True)
class Limit:
    """A limit as it was written, and as a number: ns, a ratio, or a count."""

    text: str
    kind: LimitKind
    exact: Fraction


@dataclass(frozen=True)
class Budget:
    """What one figure may be."""

    name: str
    figure: str
    kind: Kind
    max: Limit | None = None
    min: Limit | None = None
    """Per cent, of a time: of the wall time."""
    regression: Limit | None = None
    """How much worse than the baseline it may be, as a ratio; of `busy_ratio`, how much less."""
    floor: Limit | None = None
    """A change that is smaller than this is no regression."""
    severity: Severity = "error"
    when_unknown: WhenUnknown = "fail"


@dataclass(frozen=True)
class Budgets:
    """A file of budgets."""

    budgets: tuple[Budget, ...]
    per: str = RUN
    window: str | None = None
    baseline: Path | None = None


def read(path: Path) -> Budgets:
    """Return the budgets in a file.

    Raises:
        BudgetError: it cannot be read, has an unknown key, figure or unit, a limit of the wrong kind, or no budget.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BudgetError(f"{path}: {error.strerror or 'cannot be read'}; name the file with --config") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise BudgetError(f"{path}: this is no TOML ({' '.join(str(error).split())})") from error
    try:
        return _budgets(document, path)
    except BudgetError as error:
        raise BudgetError(f"{path}: {error}") from error


def _budgets(document: dict[str, Any], path: Path) -> Budgets:
    _known(document, ("check", "budget"), "the file")
    check, listed = document.get("check", {}), document.get("budget", [])
    if not isinstance(check, dict):
        raise BudgetError("check is no table; write [check]")
    if not isinstance(listed, list) or not listed or not all(isinstance(table, dict) for table in listed):
        raise BudgetError("there is no budget; write [[budget]] with a figure, and max, min or regression")
    _known(check, _CHECK_KEYS, "[check]")
    texts = {key: _text(check, key, "[check]") for key in _CHECK_KEYS}
    try:
        per = checked(texts["per"] or RUN)
    except ComparisonError as error:
        raise BudgetError(f"[check]: {error}") from error
    baseline = texts["baseline"]
    budgets = tuple(_budget(table, number) for number, table in enumerate(listed, 1))
    for budget in budgets:
        if budget.regression and not baseline:
            raise BudgetError(f'budget {budget.name!r} has a regression, and [check] no baseline = "baseline.json"')
    return Budgets(budgets, per, texts["window"], path.parent / baseline if baseline else None)


def _budget(table: dict[str, Any], number: int) -> Budget:
    where = f"budget {table['name']!r}" if isinstance(table.get("name"), str) else f"budget {number}"
    _known(table, _BUDGET_KEYS, where)
    figure = _text(table, "figure", where)
    if figure is None:
        raise BudgetError(f"{where} has no figure; choose {CHOICES}")
    its = kind(figure)
    if its is None:
        raise BudgetError(f"{where}: figure {figure!r} is none of {CHOICES}")
    if not {"max", "min", "regression"} & table.keys():
        raise BudgetError(f"{where} has no limit; give max, min or regression")
    if "floor" in table and "regression" not in table:
        raise BudgetError(f"{where} has a floor, which is for a regression, and no regression")
    fits = {"ns": ("ns", "ratio"), "ratio": ("ratio",), "count": ("count",)}[its] if figure != WALL else ("ns",)
    limits = {
        key: _limit(table, key, allowed, where)
        for key, allowed in (("max", fits), ("min", fits), ("regression", ("ratio",)), ("floor", (its,)))
    }
    if ":" not in figure:  # rows of a name may overlap
        shares = ("max", "min", *(("regression", "floor") if figure in LESS_IS_WORSE else ()))
        _no_more_than_all({key: limits[key] for key in shares}, where)
    limits_given = " ".join(f"{key} {limit.text}" for key, limit in limits.items() if limit)
    return Budget(
        name=_text(table, "name", where) or f"{figure} {limits_given}",
        figure=figure,
        kind=its,
        severity=_choice(table, "severity", ("error", "warning"), where),
        when_unknown=_choice(table, "when_unknown", ("fail", "skip"), where),
        **limits,
    )


def _no_more_than_all(limits: Mapping[str, Limit | None], where: str) -> None:
    """Raise BudgetError where a share of the time, or a loss of one, is above 100 %: it can never be reached."""
    for key, limit in limits.items():
        if limit and limit.kind == "ratio" and limit.exact > 1:
            raise BudgetError(f"{where}: {key} = {limit.text!r} is more than all of the time, so no run can tell by it")


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    unknown = next((key for key in table if key not in keys), None)
    if unknown is not None:
        raise BudgetError(f"{where} has no {unknown!r}; there are {', '.join(keys)}")


def _text(table: Mapping[str, Any], key: str, where: str) -> str | None:
    text = table.get(key)
    if text is None or (isinstance(text, str) and text):
        return text
    raise BudgetError(f"{where}: {key} = {text!r} is no text")


def _choice(table: Mapping[str, Any], key: str, choices: tuple[Any, Any], where: str) -> Any:
    choice = table.get(key, choices[0])
    if choice not in choices:
        raise BudgetError(f"{where}: {key} = {choice!r} is none of {', '.join(choices)}")
    return choice


def _limit(table: Mapping[str, Any], key: str, allowed: tuple[str, ...], where: str) -> Limit | None:
    if key not in table:
        return None
    written = table[key]
    fit = " or ".join(_WRITTEN[one] for one in allowed)
    is_number = isinstance(written, int | float) and not isinstance(written, bool)
    match = _NUMBER.fullmatch(str(written) if is_number or isinstance(written, str) else "")
    units = {"%": ("ratio", Fraction(1, 100)), "": ("count", Fraction(1))}
    units |= {unit: ("ns", Fraction(ns)) for unit, ns in UNITS_NS.items()}
    if match is None or match[2] not in units:
        raise BudgetError(f"{where}: {key} = {written!r} is no limit; write {fit}")
    limit_kind, factor = units[match[2]]
    if limit_kind not in allowed:
        raise BudgetError(f"{where}: {key} = {written!r} is {_WRITTEN[limit_kind].split(' (')[0]}; write {fit}")
    kind_of: LimitKind = limit_kind  # type: ignore[assignment]
    return Limit(str(written), kind_of, Fraction(Decimal(match[1])) * factor)
