"""What can be asked: the one thing that is different, and how its answer is to be read."""

import numpy as np
import polars as pl

from wallsplit.comparison.predict.program import Program
from wallsplit.comparison.predict.replay import Change
from wallsplit.comparison.units import matching
from wallsplit.frozen import dataclass
from wallsplit.intervals import union
from wallsplit.model import Model
from wallsplit.why.steps.ranges import own_ranges, texts_in_use


@dataclass(frozen=True)
class Question:
    """One thing that could be different."""

    name: str
    change: Change
    meaning: str
    reading: str
    samples: int = 1
    """How many times the samples the changed run works through."""


QUESTIONS = (
    Question(
        "gpu-infinite",
        Change(gpu=0),
        "GPU work takes no time",
        "no GPU and no faster kernel gets below this",
    ),
    Question(
        "host-infinite",
        Change(host=0),
        "the host takes no time",
        "nothing done on the host gets below this",
    ),
    Question(
        "gpu-x2",
        Change(gpu=0.5),
        "GPU work takes half the time",
        "the host and all delays as they are",
    ),
    Question(
        "host-x2",
        Change(host=0.5),
        "the host takes half the time",
        "GPU work and all delays as they are",
    ),
    Question(
        "no-waits",
        Change(waits=False),
        "calls that wait return at once",
        "best case; a result that is read must be waited for",
    ),
    Question(
        "graphs",
        Change(as_graphs=True),
        "launches cost what they do in CUDA graphs",
        "best case; nothing is fused, building graphs is free",
    ),
    Question(
        "copies-hidden",
        Change(hidden=frozenset({"copy"})),
        "nothing waits for copies",
        "best case; the data must be there in time",
    ),
    Question(
        "comm-hidden",
        Change(hidden=frozenset({"comm"})),
        "nothing waits for communication",
        "best case; the results must be there in time",
    ),
    Question(
        "batch-x2",
        Change(kernels=2),
        "twice the samples a step",
        "per sample; kernels take as long, or twice as long",
        samples=2,
    ),
)

WITHOUT = "without:"
"""Followed by a pattern of names of NVTX ranges, with `*`, `?` and `[…]`."""


def without(model: Model, program: Program, pattern: str) -> Question | None:
    """Return what the process would take if its host did nothing in ranges of these names; None where it has none.

    Ranges of threads that make calls count: of what others do, the replay knows only who waits.
    """
    ranges = own_ranges(model, program.pid, np.unique([call.thread for call in program.calls]))
    rows = texts_in_use(ranges)
    texts = model.names.text(pl.Series(rows)).fill_null("")
    named = rows[np.array(matching(texts, pattern), np.bool_)]
    there = ranges.of_kinds(np.isin(ranges.kinds["text"].to_numpy(), named))
    if not len(there):
        return None
    return Question(
        WITHOUT + pattern,
        Change(without=union(there.start, there.end)),
        "the host does nothing in these ranges between its calls",
        "best case; who does it then, and at what cost, is not asked",
    )


NEVER = (
    "fused or other kernels, other algorithms",
    "clocks, and operations that slow each other down",
    "what an allocator does",
    "how long communication waits for a peer: durations are kept",
    "anything inside a graph replay that was recorded as a whole",
    "whether the program needs what a removed wait waited for",
)
"""What is never predicted."""
