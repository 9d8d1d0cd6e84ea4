"""The samples of a trace, named and weighed once: what every ledger's part of them is taken from."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass
from wallsplit.intervals import Times
from wallsplit.model import Model, Names
from wallsplit.model.samples import CpuSamples
from wallsplit.why.samples.classes import ADDRESS, CODES, NAMES, VAGUE, Classifier, module_base
from wallsplit.why.samples.on_cpu import OnCpu, on_cpu
from wallsplit.why.samples.rules import Rule
from wallsplit.why.samples.values import CpuSampling
from wallsplit.why.samples.weights import Weights, weights

NO_FRAME = ("unknown", "no frame")
NOT_CHAINED = 255
"""The caller of a sample whose callers were not recorded, or whose class needs none."""
NONE_FOUND = len(NAMES)
"""The caller where all that were recorded are vague, too."""
CALLERS = (*NAMES, "none found")

Function = tuple[str | None, str | None, str]
"""Base name of the module, symbol, class."""


@dataclass(frozen=True)
class Sampling:
    """The samples of a trace in the order of time; every array has one entry per sample."""

    facts: CpuSampling
    weighing: Weights
    start: Times
    pid: npt.NDArray[np.int32]
    thread: Times
    code: npt.NDArray[np.uint8]  # of its class
    group: npt.NDArray[np.int64]  # position in `groups`
    function: npt.NDArray[np.int64]  # position in `functions`
    caller: npt.NDArray[np.uint8]  # position in CALLERS, or NOT_CHAINED
    has_callers: npt.NDArray[np.bool_]
    groups: tuple[str, ...]
    functions: tuple[Function, ...]
    running: Mapping[int, OnCpu]
    """By thread, when it was on a CPU; empty where the scheduler's events were not recorded."""
    is_nameless: npt.NDArray[np.bool_]
    """Whether the function has no name."""


def sampling(model: Model, rules: Sequence[Rule] = ()) -> Sampling | None:
    """Return the samples of a trace, `rules` going before the built-in ones; None where it has no samples."""
    samples = model.samples
    if samples is None:
        return None
    start, thread = samples.samples["start"].to_numpy(), samples.samples["thread"].to_numpy()
    running = on_cpu(samples.switches, _capture_end(model, int(start[-1]) + 1))
    weighing = weights(thread, start, running, samples.settings)
    functions, groups = _places(samples, model.names, Classifier(rules, samples.programs["name"].to_list()))
    place_code = np.array([CODES[each[2]] for each in functions], np.uint8)
    place = samples.samples["place"].fill_null(len(functions) - 1).to_numpy()
    code = place_code[place]
    group_names, group = np.unique(np.array(groups, dtype=object), return_inverse=True)
    function_names = sorted(set(functions), key=str)
    position = {each: i for i, each in enumerate(function_names)}
    return Sampling(
        facts=CpuSampling(
            period_ns=weighing.period_ns,
            period_source=weighing.period_source,
            trigger=weighing.trigger,
            weight=weighing.source,
            backtrace_every=samples.settings.backtrace_every,
            capture_sample_count=len(start),
            kernel_sampled=bool((code == CODES["kernel"]).any()),
            scheduling=bool(running),
        ),
        weighing=weighing,
        start=start,
        pid=samples.samples["pid"].to_numpy(),
        thread=thread,
        code=code,
        group=group[place],
        function=np.array([position[each] for each in functions], np.int64)[place],
        caller=_callers(samples, place_code, code),
        has_callers=samples.samples["has_callers"].to_numpy(),
        groups=tuple(group_names.tolist()),
        functions=tuple(function_names),
        running=running,
        is_nameless=np.array([each[1] is None for each in functions])[place],
    )


def _capture_end(model: Model, after_last_sample: int) -> int:
    """Return when the recording ended, no earlier than any window does."""
    duration = model.capture.duration_ns or after_last_sample
    return max(duration, model.span[1]) if model.span else duration


def _places(samples: CpuSamples, names: Names, classifier: Classifier) -> tuple[list[Function], list[str]]:
    """Return function and group of every place in code, and last those of a sample without one."""
    frame = samples.places
    texts = [
        names.text(frame[column].fill_null(0)).to_list() if frame.height else [] for column in ("module", "symbol")
    ]
    null = [frame[column].is_null().to_list() for column in ("module", "symbol")]
    functions, groups = [], []
    flags = frame.select("is_unresolved", "is_kernel").iter_rows()
    for module, symbol, no_module, no_symbol, (unresolved, kernel) in zip(*texts, *null, flags, strict=True):
        module, symbol = None if no_module else module, None if no_symbol else symbol
        kind, group = classifier.classify(module, symbol, unresolved=unresolved, kernel_mode=kernel)
        shown = None if unresolved and (not symbol or ADDRESS.match(symbol)) else symbol
        functions.append((module_base(module) if module else None, shown, kind))
        groups.append(group)
    return [*functions, (None, None, NO_FRAME[0])], [*groups, NO_FRAME[1]]


def _callers(
    samples: CpuSamples, place_code: npt.NDArray[np.uint8], code: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """Return the class of the nearest caller that is not vague, of vague samples whose callers were recorded."""
    vague = np.isin(code, VAGUE) & samples.samples["has_callers"].to_numpy()
    caller = np.where(vague, NONE_FOUND, NOT_CHAINED).astype(np.uint8)
    telling = ~np.isin(place_code, VAGUE)
    chains = samples.callers.filter(
        pl.Series(vague).gather(samples.callers["sample"]) & pl.Series(telling).gather(samples.callers["place"])
    ).unique("sample", keep="first", maintain_order=True)
    caller[chains["sample"].to_numpy()] = place_code[chains["place"].to_numpy()]
    return caller
