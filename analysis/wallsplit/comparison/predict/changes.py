"""What can be asked: the one thing that is different, and how its answer is to be read."""

from dataclasses import dataclass

from wallsplit.comparison.predict.replay import Change


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

NEVER = (
    "fused or other kernels, other algorithms",
    "clocks, and operations that slow each other down",
    "what an allocator does",
    "how long communication waits for a peer: durations are kept",
    "anything inside a graph replay that was recorded as a whole",
    "whether the program needs what a removed wait waited for",
)
"""What is never predicted."""
