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
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BudgetError(f"{path}: {error.strerror or 'cannot be read'}; name the file with --config") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise BudgetError(f"{path}: this is no TOML ({' '.join(str(error).split())})") from error
    try:
        return _budgets(found, path)
    except BudgetError as error:
        raise BudgetError(f"{path}: {error}") from error


def _budgets(found: dict[str, Any], path: Path) -> Budgets:
    _known(found, ("check", "budget"), "the file")
    check, listed = found.get("check", {}), found.get("budget", [])
    if not isinstance(check, dict):
        raise BudgetError("check is no table; write [check]")
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        raise BudgetError("there is no budget; write [[budget]] with a figure, and max, min or regression")
    _known(check, _CHECK_KEYS, "[check]")
    texts = {key: _text(check, key, "[check]") for key in _CHECK_KEYS}
    try:
        per = checked(texts["per"] or RUN)
    except ComparisonError as error:
        raise BudgetError(f"[check]: {error}") from error
    baseline = texts["baseline"]
    budgets = tuple(_budget(one, number) for number, one in enumerate(listed, 1))
    for budget in budgets:
        if budget.regression and not baseline:
            raise BudgetError(f'budget {budget.name!r} has a regression, and [check] no baseline = "baseline.json"')
    return Budgets(budgets, per, texts["window"], path.parent / baseline if baseline else None)


def _budget(found: dict[str, Any], number: int) -> Budget:
    where = f"budget {found['name']!r}" if isinstance(found.get("name"), str) else f"budget {number}"
    _known(found, _BUDGET_KEYS, where)
    figure = _text(found, "figure", where)
    if figure is None:
        raise BudgetError(f"{where} has no figure; choose {CHOICES}")
    its = kind(figure)
    if its is None:
        raise BudgetError(f"{where}: figure {figure!r} is none of {CHOICES}")
    if not {"max", "min", "regression"} & found.keys():
        raise BudgetError(f"{where} has no limit; give max, min or regression")
    if "floor" in found and "regression" not in found:
        raise BudgetError(f"{where} has a floor, which is for a regression, and no regression")
    fits = {"ns": ("ns", "ratio"), "ratio": ("ratio",), "count": ("count",)}[its] if figure != WALL else ("ns",)
    limits = {
        key: _limit(found, key, allowed, where)
        for key, allowed in (("max", fits), ("min", fits), ("regression", ("ratio",)), ("floor", (its,)))
    }
    for key in ("max", "min"):
        limit = limits[key]
        if limit and limit.kind == "ratio" and limit.exact > 1 and ":" not in figure:  # rows of a name may overlap
            raise BudgetError(f"{where}: {key} = {limit.text!r} is more than all of the time, so no run can tell by it")
    given = " ".join(f"{key} {limit.text}" for key, limit in limits.items() if limit)
    return Budget(
        name=_text(found, "name", where) or f"{figure} {given}",
        figure=figure,
        kind=its,
        severity=_choice(found, "severity", ("error", "warning"), where),
        when_unknown=_choice(found, "when_unknown", ("fail", "skip"), where),
        **limits,
    )


def _known(found: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    unknown = next((key for key in found if key not in keys), None)
    if unknown is not None:
        raise BudgetError(f"{where} has no {unknown!r}; there are {', '.join(keys)}")


def _text(found: Mapping[str, Any], key: str, where: str) -> str | None:
    text = found.get(key)
    if text is None or (isinstance(text, str) and text):
        return text
    raise BudgetError(f"{where}: {key} = {text!r} is no text")


def _choice(found: Mapping[str, Any], key: str, choices: tuple[Any, Any], where: str) -> Any:
    given = found.get(key, choices[0])
    if given not in choices:
        raise BudgetError(f"{where}: {key} = {given!r} is none of {', '.join(choices)}")
    return given


def _limit(found: Mapping[str, Any], key: str, allowed: tuple[str, ...], where: str) -> Limit | None:
    if key not in found:
        return None
    given = found[key]
    fit = " or ".join(_WRITTEN[one] for one in allowed)
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    match = _NUMBER.fullmatch(str(given) if is_number or isinstance(given, str) else "")
    units = {"%": ("ratio", Fraction(1, 100)), "": ("count", Fraction(1))}
    units |= {unit: ("ns", Fraction(ns)) for unit, ns in UNITS_NS.items()}
    if match is None or match[2] not in units:
        raise BudgetError(f"{where}: {key} = {given!r} is no limit; write {fit}")
    limit_kind, factor = units[match[2]]
    if limit_kind not in allowed:
        raise BudgetError(f"{where}: {key} = {given!r} is {_WRITTEN[limit_kind].split(' (')[0]}; write {fit}")
    kind_of: LimitKind = limit_kind  # type: ignore[assignment]
    return Limit(str(given), kind_of, Fraction(Decimal(match[1])) * factor)


LESS_IS_WORSE = (BUSY,)
"""Figures of which a regression is a decrease."""
