"""What only one workload measures, read out of a run's free-form `results` with its types checked."""

from collections.abc import Mapping

from wallsplit.run.manifest import RunManifest


def records(run: RunManifest, name: str) -> list[Mapping[str, object]]:
    """Return the list of objects of that name; empty where there is none."""
    value = run.results.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(values: Mapping[str, object], name: str) -> str | None:
    """Return the text of that name; None where it is none."""
    value = values.get(name)
    return value if isinstance(value, str) else None


def texts(value: object) -> list[str]:
    """Return the texts in a list; empty where it is no list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def whole(values: Mapping[str, object], name: str) -> int | None:
    """Return the whole number of that name; None where it is none."""
    value = values.get(name)
    return value if type(value) is int else None


def number(values: Mapping[str, object], name: str) -> float | None:
    """Return the number of that name; None where it is none."""
    value = values.get(name)
    return float(value) if type(value) in (int, float) and isinstance(value, int | float) else None


def numbers(value: object) -> list[float]:
    """Return the numbers in a list; empty where it is no list."""
    return [float(item) for item in value if isinstance(item, int | float)] if isinstance(value, list) else []
