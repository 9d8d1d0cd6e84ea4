"""Every CPU workload recorded for real, as small as it is of use, and what it says about itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from recordings import NAME, profile
from wallsplit.analysis import Analysis
from wallsplit.diagnosis.explanation import Explanation
from wallsplit.ledger.ledger import Ledger
from wallsplit.model import Model
from wallsplit.pipeline import analyse, examine
from wallsplit.run import manifest
from wallsplit.run.manifest import RunManifest
from workload_runs import need


@dataclass(frozen=True)
class Case:
    """A workload, its parameters, and what it says about itself."""

    arguments: tuple[str, ...]
    parts: Mapping[str, str]
    """Of `host`, each part in terms of its ranges' total times; of the rest of the window nothing is marked."""
    modules: tuple[str, ...] = ()
    is_inside: bool = False
    """The clock of an epoch is read inside its range, not around it."""
    framework: bool = False
    executes: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """By range, the class that most of its samples must have, and at least what share of them."""


MLP = {
    "host.data": "data",
    "host.forward": "forward",
    "host.metrics": "metrics",
    "host.backward": "backward",
    "host.optimizer": "update",
    "host.validation": "validation",
    "host.step": "epoch - validation - data - forward - metrics - backward - update",
}
JITTED = {
    "host.compile": "compile",
    "host.data": "data",
    "host.validation": "validation",
    "host.step": "epoch - validation - data",
}
CASES = {
    "numpy": Case(
        ("numpy", "--epochs", "2", "--steps", "60", "--set", "threads=1"),
        MLP,
        is_inside=True,
    ),
    "numpy-sample": Case(
        ("numpy-sample", "--epochs", "2", "--steps", "12", "--set", "threads=1"),
        {
            "host.data": "data",
            "host.metrics": "metrics",
            "host.optimizer": "update",
            "host.validation": "validation",
            "host.step": "epoch - validation - data - metrics - update",
        },
        is_inside=True,
    ),
    "matmul": Case(
        ("matmul", "--batch", "256", "--steps", "200", "--set", "threads=1"),
        {"host.setup": "warmup", "host.step": "epoch"},
        executes={"step": ("arithmetic", 0.9)},
    ),
    "train-step": Case(
        ("train-step", "--epochs", "2", "--steps", "50", "--set", "threads=1"),
        {"host.data": "data", "host.setup + host.step": "warmup + epoch - data"},
    ),
    "op-timing": Case(
        ("op-timing", "--steps", "40", "--set", "threads=1"),
        {
            "host.forward": "forward",
            "host.backward": "backward",
            "host.optimizer": "update",
            "host.loss": "cross-entropy",  # an operation of the metrics, and a phase by its name
            "host.metrics": "metrics - cross-entropy",
            "host.setup + host.step": "warmup + epoch - forward - backward - update - metrics",
        },
    ),
    "jax-cpu": Case(("jax-cpu", "--epochs", "2", "--steps", "60"), JITTED, ("jax",), is_inside=True, framework=True),
    "jax-vmap": Case(
        ("jax-vmap", "--epochs", "1", "--steps", "40", "--set", "models=3"),
        JITTED,
        ("jax",),
        is_inside=True,
        framework=True,
    ),
    "keras-cpu": Case(
        ("keras-cpu", "--epochs", "2", "--steps", "60"),
        {"host.validation": "validation", "host.step": "epoch - validation"},
        ("tensorflow",),
        framework=True,
    ),
    "iris-cpu": Case(
        ("iris-cpu", "--epochs", "200", "--set", "item_every=50"),
        {
            "host.data": "data",
            "host.forward": "forward",
            "host.backward": "backward",
            "host.optimizer": "update",
            "host.metrics": "metrics + print",
            "host.step": "epoch - data - forward - backward - update - metrics - print",
        },
        ("torch", "sklearn"),
        framework=True,
    ),
    "word2vec": Case(
        ("word2vec", "--set", "tokens=60000"),
        {"host.data": "data", "host.step": "epoch"},
        ("gensim",),
        framework=True,
    ),
}


@dataclass(frozen=True)
class Recorded:
    """One recording, analysed."""

    case: Case
    path: Path
    made: RunManifest
    model: Model
    analysis: Analysis
    marked: pl.DataFrame
    """Its ranges: name, pid, thread, start, end; ascending."""

    def ledger(self, pid: int) -> tuple[Ledger, Explanation]:
        """Return the ledger of a process and its explanation."""
        explained = self.analysis.explained
        assert explained is not None
        pairs = zip(self.analysis.ledgers, explained.ledgers, strict=True)
        return next(pair for pair in pairs if pair[0].pid == pid)

    def trained(self) -> tuple[Ledger, Explanation]:
        """Return those of the one process that trains: TensorFlow starts others."""
        (pid,) = self.marked.filter(name="epoch")["pid"].unique()
        return self.ledger(pid)


def record(case: Case, folder: Path, real_nsys: Path) -> Recorded:
    """Return a recording of the case made in the folder."""
    need("nvtx", *case.modules)
    done = profile(folder, real_nsys, *case.arguments, "--baseline-runs", "0")
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if "warning" in line and "the machine was busy" not in line]
    assert warnings == []
    path = folder / f"{NAME}.sqlite"
    examined = examine(path)
    made = manifest.read(folder / f"{NAME}.run.json")
    return Recorded(case, path, made, examined.model, analyse(examined), ranges(examined.model))


def ranges(model: Model) -> pl.DataFrame:
    """Return the program's own ranges in a model."""
    frame = model.nvtx.select(model.names.text(model.nvtx["text"]).alias("name"), "pid", "thread", "start", "end")
    return frame.sort("start", "end")


def total_ns(marked: pl.DataFrame, terms: str) -> int:
    """Return "a + b - c", each the total time of the ranges of that name."""
    signs = {"+": 1, "-": -1}
    words = ["+", *terms.split(" ")]
    by_name = dict(marked.group_by("name").agg((pl.col("end") - pl.col("start")).sum()).iter_rows())
    return sum(signs[sign] * int(by_name[name]) for sign, name in zip(words[::2], words[1::2], strict=True))
