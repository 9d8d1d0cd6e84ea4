"""The cells of a study: what is to be measured, what came out, and both as one line of JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from statistics import median
from typing import Final, Literal

from wallsplit.errors import ManifestError
from wallsplit.run.decoding import DecodeError, decode, encode
from wallsplit.run.manifest import RunManifest
from wallsplit_study.results import numbers, whole
from wallsplit_workloads.machine import IDENTITY

Part = Literal["grid", "ops", "search", "item", "causes", "word2vec", "break-even"]
Status = Literal["measured", "no GPU here", "not installed", "not supported here", "failed"]

LONGEST: Final = 200
"""Epochs of a run, or points of a curve, that a cell keeps; iris trains for 20,000 epochs."""
_PLAUSIBLE: Final = range(2**53)  # what a float holds exactly


@dataclass(frozen=True)
class Cell:
    """One run to be measured: a workload with these parameters, for the repeat-th time (from 1)."""

    part: Part
    workload: str
    approach: str
    """What the runs of a part are compared by: a row of its table."""
    settings: Mapping[str, str]
    repeat: int


@dataclass(frozen=True)
class Outcome:
    """What became of a cell. `epochs_wall_ns` is the sum over its epochs; of its steps, percentiles by nearest rank."""

    cell: Cell
    status: Status
    identity: Mapping[str, str] = field(default_factory=dict)
    """The machine, the versions and the workload's own: measured with others, it is another measurement."""
    message: str | None = None
    epochs_wall_ns: int | None = None
    step_median_ns: int | None = None
    step_p95_ns: int | None = None
    step_p99_ns: int | None = None
    run: RunManifest | None = None

    @property
    def key(self) -> str:
        """Tells this measurement from every other; equal for one that would only repeat it."""
        return key(self.cell, self.identity)


def key(cell: Cell, identity: Mapping[str, str]) -> str:
    """Return what tells the cell, measured under this identity, from every other."""
    return json.dumps([encode(cell), dict(identity)], sort_keys=True)


def machine_of(outcome: Outcome) -> dict[str, str]:
    """Return what the outcome's identity says of the machine, by the names of `machine.IDENTITY`."""
    return {name: outcome.identity[name] for name in IDENTITY if name in outcome.identity}


def machines(outcomes: Iterable[Outcome]) -> list[dict[str, str]]:
    """Return the machines the outcomes are of, each once, in the order they appear."""
    return list({tuple(own.items()): own for outcome in outcomes if (own := machine_of(outcome))}.values())


def measured(cell: Cell, identity: Mapping[str, str], run: RunManifest) -> Outcome:
    """Return the outcome of a run that ended well, without its single steps and without very many epochs."""
    epochs_wall_ns = sum(epoch.wall_ns for epoch in run.epochs) if run.epochs else None
    steps = sorted(run.step_wall_ns or ())
    kept = replace(
        run,
        step_wall_ns=None,
        epochs=run.epochs if len(run.epochs) <= LONGEST else (),
        results={name: _thinned(value) for name, value in run.results.items()},
    )
    return Outcome(
        cell,
        "measured",
        identity,
        epochs_wall_ns=epochs_wall_ns,
        step_median_ns=int(median(steps)) if steps else None,
        step_p95_ns=_percentile(steps, 95),
        step_p99_ns=_percentile(steps, 99),
        run=kept,
    )


def to_line(outcome: Outcome) -> str:
    """Return the outcome as one line of JSON with its line feed."""
    return json.dumps(encode(outcome), allow_nan=False, separators=(",", ":")) + "\n"


def from_line(line: str | bytes) -> Outcome:
    """Return the outcome that the line describes.

    Raises:
        ManifestError: it describes none.
    """
    try:
        outcome: Outcome = decode(Outcome, json.loads(line))
        json.dumps(encode(outcome), ensure_ascii=False).encode()  # lone surrogates have no place in an output
        _check(outcome)
    except (ValueError, RecursionError) as error:  # DecodeError is a ValueError
        raise ManifestError(f"not a measured cell ({error})") from error
    return outcome


def latest(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes that count, place by place as the tables show them.

    Of outcomes for the same cell the last counts. Of one place in a table (part, workload, approach, device, batch,
    `item_every`) count those under the same settings and identity as the one measured last: different parameters or
    versions are never mixed into one median.
    """
    last: dict[str, Outcome] = {}
    for outcome in outcomes:
        last.pop(outcome.key, None)
        last[outcome.key] = outcome
    places: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in last.values():
        places.setdefault(_place(outcome.cell), []).append(outcome)
    return [
        outcome for alike in places.values() for outcome in alike if _conditions(outcome) == _conditions(_newest(alike))
    ]


def epoch_ns(outcome: Outcome) -> int | None:
    """Return the median of the epochs after the first, which compiles; of a single epoch, that one."""
    walls = epoch_walls_ns(outcome)
    return int(median(walls[1:] or walls)) if walls else None


def epoch_walls_ns(outcome: Outcome) -> list[int]:
    """Return the time in ns of each whole epoch: measured, or extrapolated by the run from a part of its samples."""
    if outcome.run is None:
        return []
    extrapolated = [int(wall) for wall in numbers(outcome.run.results.get("extrapolated_epoch_wall_ns"))]
    return extrapolated or [epoch.wall_ns for epoch in outcome.run.epochs]


def extrapolated_to(outcome: Outcome) -> int | None:
    """Return the training samples of the epochs that a run extrapolated to; None of a run that measured whole ones."""
    return whole(outcome.run.results, "extrapolated_to_samples") if outcome.run else None


def first_epoch_ns(outcome: Outcome) -> int | None:
    """Return the wall time of the first epoch where others follow; None where it is all there is."""
    walls = epoch_walls_ns(outcome)
    return walls[0] if len(walls) > 1 else None


def samples_per_s(outcome: Outcome) -> float | None:
    """Return training samples per second of training, validation left out, over the epochs after the first."""
    run = outcome.run
    if run is None or run.data is None or not run.data.train_samples:
        return None
    walls = [epoch.train_wall_ns or epoch.wall_ns for epoch in run.epochs]
    typical = median(walls[1:] or walls) if walls else 0
    return run.data.train_samples * 1e9 / typical if typical else None


def value_ns(outcome: Outcome) -> int | None:
    """Return the time in ns by which the outcomes of this part are compared; `VALUE_TITLES` names it."""
    match outcome.cell.part:
        case "grid" | "causes":
            return epoch_ns(outcome)
        case "ops":
            return outcome.step_median_ns
        case "search":
            return outcome.run.wall_ns if outcome.run else None
        case "item" | "word2vec" | "break-even":
            return outcome.epochs_wall_ns


VALUE_TITLES: Final[Mapping[Part, str]] = {
    "grid": "time per epoch",
    "ops": "time per step",
    "search": "time of the whole search, imports included",
    "item": "time of all epochs",
    "causes": "time per epoch",
    "word2vec": "time of training",
    "break-even": "time of the whole sweep",
}


def _check(outcome: Outcome) -> None:
    """Raise DecodeError for what the types cannot say: times and counts are not negative, and within 104 days of ns."""
    run = outcome.run
    numbers = [outcome.epochs_wall_ns, outcome.step_median_ns, outcome.step_p95_ns, outcome.step_p99_ns]
    if run is not None:
        numbers += [run.wall_ns, *(wall for epoch in run.epochs for wall in (epoch.wall_ns, epoch.train_wall_ns))]
        numbers += [run.data.train_samples if run.data else None, run.steps.train if run.steps else None]
    for value in numbers:
        if value is not None and value not in _PLAUSIBLE:
            raise DecodeError(f"{value} is no time or count")


def _newest(outcomes: list[Outcome]) -> Outcome:
    """Return the last measured outcome, or the last at all where none was measured."""
    return next((outcome for outcome in reversed(outcomes) if outcome.status == "measured"), outcomes[-1])


def _place(cell: Cell) -> tuple[object, ...]:
    varied = (cell.settings.get(name) for name in ("device", "batch", "item_every"))
    return cell.part, cell.workload, cell.approach, *varied


def _conditions(outcome: Outcome) -> tuple[object, ...]:
    return dict(outcome.cell.settings), dict(outcome.identity)


def _percentile(ascending: Sequence[int], percent: int) -> int | None:
    """Return the value of the nearest rank; None without any."""
    return ascending[ceil(len(ascending) * percent / 100) - 1] if ascending else None


def _thinned(value: object) -> object:
    """Return a long list as an evenly spaced choice of its items, its last one included."""
    if not isinstance(value, list) or len(value) <= LONGEST:
        return value
    stride = ceil(len(value) / LONGEST)
    return value[::-stride][::-1]
