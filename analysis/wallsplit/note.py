"""What a person must know about an analysis, as a value."""

from typing import Literal, get_args

from wallsplit.frozen import dataclass

Level = Literal["error", "warning", "info"]
LEVELS: tuple[Level, ...] = ("error", "warning", "info")
"""The gravest first."""
Kind = Literal[
    # the recording
    "reconstructed",  # not recorded: written from published figures
    "assumption",  # of a reconstruction
    "no_cuda",  # no CUDA row at all
    "failed_calls",
    "no_gpu_work",  # launches, but no row of GPU work
    "nothing_launched",  # CUDA calls, but nothing given to the GPU
    "lost_launches",  # GPU times are lower bounds
    "late_recording",  # GPU work without its API calls
    "opaque_graphs",  # graphs recorded as a whole
    "communication",  # the communication libraries found
    "assumed_gpu",  # which physical GPU a device is was not recorded
    "other_gpu_work",  # work on the GPU that is not CUDA's
    "not_used",  # tables that no number comes from
    "unusable_rows",
    "nsys_messages",
    # what holds the GPU up
    "pageable_copies",  # asynchronous copies that block
    "managed_memory",  # migrations under kernels
    "full_queue",  # launches that wait for room in the queue
    "launch_contention",  # several threads inside launch calls at once
    "device_clock_ahead",
    "device_memory",  # the high-water mark, and growth like a leak
    "other_threads",  # ranges whose work other threads launched
    # the question
    "explicit_window",
    "beyond_ranges",  # a recording much longer than the ranges in it, which are the window
    "peak_without_flops",
    "impossible_flops",
    # beside the trace
    "manifest_ignored",
    "manifest_unproven",
    "samples_missing",
    "samples_ignored",
    "perturbation",
    "busy_machine",  # a CPU run that had less than half of a core
    # several traces, experiments
    "comparison",  # what must be known before a comparison is believed
    "trace_failed",
    "study",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Note:
    """A sentence a newcomer understands, about what the numbers can and cannot say.

    Programs go by its kind, never by its words.
    """

    kind: Kind
    level: Level
    text: str
    pid: int | None = None
    """The one process it is about."""
    device: int | None = None
    """The device of that process."""
