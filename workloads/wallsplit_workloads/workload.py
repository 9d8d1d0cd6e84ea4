"""What a workload is: a name, a summary, typed parameters and a function from a context to a result."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter_ns
from typing import Literal

from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Arithmetic, Data, Epoch, ModelShape, Scalar, Steps
from wallsplit_workloads.marks import Marks

Device = Literal["cpu", "gpu"]


class UnsupportedError(WallsplitError):
    """This device cannot do what was asked, and no other setting of the machine would change that."""


@dataclass(frozen=True)
class Parameter:
    """One setting of a workload; kind is the Python type of its value, bounds are inclusive."""

    name: str
    kind: type[int] | type[float] | type[str] | type[bool] | type[Path]
    default: Scalar
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> Scalar:
        """Return the value the text stands for; of a Path, the text itself.

        Raises:
            WallsplitError: the text is no value of this parameter.
        """
        if self.choices and text not in self.choices:
            raise WallsplitError(
                f"{self.name}={text}: not one of {', '.join(self.choices)}{nearest(text, self.choices)}"
            )
        if self.kind is bool:
            if text.lower() not in _TRUTH:
                raise WallsplitError(f"{self.name}={text}: neither true nor false")
            return _TRUTH[text.lower()]
        if self.kind in (str, Path):
            return text
        try:
            value = int(text) if self.kind is int else float(text)
        except ValueError as error:
            wanted = "a whole number" if self.kind is int else "a number"
            raise WallsplitError(f"{self.name}={text}: not {wanted}") from error
        if self.minimum is not None and not value >= self.minimum:  # so that NaN is refused
            raise WallsplitError(f"{self.name}={text}: less than {self.minimum:g}")
        if self.maximum is not None and not value <= self.maximum:
            raise WallsplitError(f"{self.name}={text}: more than {self.maximum:,}")
        return value


_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True)
class Result:
    """What a run of a workload measured; the fields are those of the run manifest."""

    data: Data | None = None
    model: ModelShape | None = None
    steps: Steps | None = None
    arithmetic: Arithmetic | None = None
    threads: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Scalar] = field(default_factory=dict)  # beside those that settings.py asks for
    epochs: tuple[Epoch, ...] = ()
    step_wall_ns: tuple[int, ...] | None = None
    results: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class RunContext:
    """Everything a workload may look at: its parameter values, its device, where NVTX marks and progress go."""

    values: Mapping[str, Scalar]
    device: Device = "cpu"
    marks: Marks = field(default_factory=Marks)
    progress: Callable[[str], None] = lambda line: None
    preparation_ns: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def preparing(self, what: str) -> Iterator[None]:
        """Count the time inside as preparation for the first epoch, under a name: imports, data, compilation."""
        start = perf_counter_ns()
        yield
        self.preparation_ns[what] = self.preparation_ns.get(what, 0) + perf_counter_ns() - start

    def integer(self, name: str) -> int:
        """Return the value of a whole-number parameter."""
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def number(self, name: str) -> float:
        """Return the value of a number parameter."""
        value = self.values[name]
        assert isinstance(value, int | float)
        return float(value)

    def text(self, name: str) -> str:
        """Return the value of a text parameter."""
        value = self.values[name]
        assert isinstance(value, str)
        return value

    def flag(self, name: str) -> bool:
        """Return the value of a true-or-false parameter."""
        return self.values[name] is True

    def optional_integer(self, name: str) -> int | None:
        """Return the value of a whole-number parameter that may be left unset."""
        return None if self.values[name] is None else self.integer(name)

    @property
    def data_path(self) -> Path | None:
        """Where the user says the data lies; None: look in the usual places."""
        value = self.values["data"]
        return None if value is None else Path(str(value))


@dataclass(frozen=True)
class Workload:
    """One program to profile. Its frameworks are imported inside `run`, never before."""

    name: str
    summary: str
    run: Callable[[RunContext], Result]
    parameters: tuple[Parameter, ...]
    extra: str | None = None  # wallsplit[extra] installs what it needs; None: NumPy, or what its `backend` needs
    device: Device | None = "cpu"  # None: the `device` parameter says
    cpu_sibling: str | None = None  # what to run where there is no GPU


def batch(default: int = 32, maximum: int | None = None) -> Parameter:
    """Return the `batch` parameter."""
    return Parameter("batch", int, default, "samples per step", minimum=1, maximum=maximum)


def epochs(default: int = 2) -> Parameter:
    """Return the `epochs` parameter."""
    return Parameter("epochs", int, default, "passes over the training samples", minimum=1)


def torch_threads(default: int | None = 1) -> Parameter:
    """Return the `threads` parameter of PyTorch workloads: small operations gain nothing from more than one."""
    return Parameter("threads", int, default, "CPU threads of PyTorch; more than 1 may idle by spinning", 1, 1024)


STEPS = Parameter("steps", int, None, "training steps per epoch at most; unset: the whole set", minimum=1)
SEED = Parameter("seed", int, 0, "seed of weights, order and generated data", minimum=0, maximum=2**32 - 1)
DATA = Parameter(
    "data", Path, None, "mnist.npz or a folder of IDX files; unset: the usual places, else a generated set"
)
RATE = Parameter("rate", float, 0.1, "learning rate of SGD", minimum=0, maximum=1e6)
SHUFFLE = Parameter("shuffle", bool, True, "new order of the samples in every epoch")
CUDA_OR_CPU = Parameter("device", str, "cpu", "where the model runs", choices=("cpu", "cuda"))
WAIT_PHASES = Parameter(
    "wait_phases",
    bool,
    False,
    "wait for the device after each marked phase: each shows its own work, and none overlaps; NumPy never has to",
)
SAMPLES = Parameter(
    "samples", int, None, "training samples per epoch at most; a whole epoch is extrapolated from them", minimum=1
)
BLAS_THREADS = Parameter(
    "threads", int, None, "threads of NumPy's BLAS; unset: its own choice", minimum=1, maximum=1024
)


def find(workloads: Iterable[Workload], name: str) -> Workload:
    """Return the workload of that name.

    Raises:
        WallsplitError: there is none; lists those there are and the nearest.
    """
    known = {workload.name: workload for workload in workloads}
    if name not in known:
        raise WallsplitError(f"no workload {name!r}{nearest(name, known)}; there are {', '.join(known)}")
    return known[name]


def resolve(workload: Workload, given: Mapping[str, str]) -> dict[str, Scalar]:
    """Return every parameter's value, in the workload's order: the text given for it, else its default.

    Raises:
        WallsplitError: a parameter is unknown or its value impossible.
    """
    known = {parameter.name: parameter for parameter in workload.parameters}
    for name in given:
        if name not in known:
            has = f"it takes {', '.join(known)}"
            raise WallsplitError(f"{workload.name} has no parameter {name!r}{nearest(name, known)}; {has}")
    return {name: known[name].parse(given[name]) if name in given else known[name].default for name in known}


def device_of(workload: Workload, values: Mapping[str, Scalar]) -> Device:
    """Return the device a run with these values uses."""
    return workload.device or ("gpu" if values["device"] == "cuda" else "cpu")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a question that names the most similar known name, to go behind an error's; empty without one."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""
