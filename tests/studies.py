"""Outcomes of a study, written out for tests."""

from wallsplit.run.manifest import Cpu, Data, Epoch, Generator, RunManifest, Scalar, Steps
from wallsplit_study.cells import Cell, Outcome, Part, measured

IDENTITY = {"python": "3.11", "processor": "a processor"}


def cell(approach: str, repeat: int = 1, part: Part = "grid", workload: str | None = None, **settings: str) -> Cell:
    return Cell(part, workload or approach, approach, settings, repeat)


def run(*epochs_ns: int, parameters: dict[str, Scalar] | None = None, **results: object) -> RunManifest:
    """Return a run whose epochs took so long, its loss falling by half in each; 48,000 samples in 1,500 steps."""
    epochs = [Epoch(ns, ns, 2.0**-i, 0.5, 2.0**-i, 1 - 2.0 ** -(i + 1)) for i, ns in enumerate(epochs_ns)]
    return RunManifest(
        Generator("wallsplit", "0"),
        workload="any",
        parameters=parameters or {},
        device="cpu",
        data=Data("mnist", "a file", 48_000, 12_000),
        steps=Steps(1500, 375),
        versions={"python": "3.11"},
        threads={"openblas": 2},
        cpu=Cpu("a processor", 2, 4),
        wall_ns=sum(epochs_ns) + 1,
        epochs=tuple(epochs),
        results=results,
    )


def place(approach: str, batch: int, *repeats_ns: int) -> list[Outcome]:
    """Return the repeats of one place of the grid, each of two epochs: a slow first one, and one of the given time."""
    return [
        measured(
            cell(approach, repeat, batch=str(batch)),
            IDENTITY,
            run(5 * ns, ns, parameters={"batch": batch, "epochs": 2}),
        )
        for repeat, ns in enumerate(repeats_ns, 1)
    ]


def absent(approach: str, batch: int) -> Outcome:
    return Outcome(cell(approach, batch=str(batch)), "no GPU here", IDENTITY, "no NVIDIA GPU")


def failed(approach: str, batch: int, message: str, repeat: int = 1) -> Outcome:
    return Outcome(cell(approach, repeat, batch=str(batch)), "failed", IDENTITY, message)
