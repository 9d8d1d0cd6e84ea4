"""The rules: what is looked for, from which share on, and in which order. One table (docs/why.md lists it)."""

from wallsplit.frozen import dataclass

SHARE = 0.10
"""A cause that takes less of the scope is no finding: removing it would win less than noise hides."""
HALF = 0.50
"""So much of the window paid once is the first thing to say: the rest of the recording is too short to judge."""
PROFILER_SHARE = 0.05
OTHER_DEVICE_SHARE = 0.30
"""Of the window: an idle device beside a busy one is worth saying even where steps do not show it."""
FEW_OPERATIONS, FEW_BUSY_SHARE = 50, 0.05
SMALL_COVERAGE, SMALL_WORK_SHARE = 0.50, 0.20
MIGRATION_SHARE = 0.20
"""Of the kernel time, with page migrations under it."""
FAILED_SHARE, STICKY_CODE = 0.10, 700
"""From error code 700 on the context is lost, and nothing after it runs."""
BOUND_SHARE, BOUND_SHARE_ALONE = 0.85, 0.80
"""Work from which on a GPU counts as the limit: 80 % suffices where nothing else was found."""
COMPLETE = 0.99
STEPS_SHARE, STEPS_LEAST, STEPS_TYPICAL = 0.20, 3, 1 / 3
"""Steps are the scope if they fill so much of the time from first to last operation, so many remain after warm-up, and
their number times the median is so much of the scope: one long pause does not make a short loop the run."""


@dataclass(frozen=True)
class Rule:
    """One finding: its place in the list and when it holds."""

    cause: str
    order: int
    """Findings are listed by order, then by prize."""
    holds: str
    """The rule, in words."""
    why: str
    """Why that threshold, or why that order."""


RULES = (
    Rule("no_cuda", 0, "no CUDA rows", "nothing can be said about a GPU"),
    Rule("no_gpu_use", 0, "no GPU operation, launch, copy or set, and no failed call", "this process used no GPU"),
    Rule(
        "abstain",
        0,
        "no GPU operation; or under 99 % of the launches have GPU rows and 10 % of the scope or more is idle",
        "idle time may be work that was not recorded",
    ),
    Rule(
        "failed_calls",
        1,
        "10 % of the launches or more failed, or a launch, copy, set or allocation failed with a code of 700 or more",
        "what failed did not run: nothing else means much",
    ),
    Rule(
        "startup",
        2,
        "50 % of the window or more is idle time paid once: outside the scope, or loading and compiling inside it",
        "a longer run pays it once; shares of a short one mislead",
    ),
    Rule(
        "unseen_wait",
        3,
        "waits of 1 ms or more for nothing recorded take 10 % of the window or more",
        "a hang, a peer, or lost records: the trace does not hold the reason",
    ),
    Rule(
        "few_operations",
        4,
        "no steps, under 50 operations, and the GPU under 5 % busy",
        "shares of so few operations say nothing about a training run",
    ),
    Rule(
        "migration",
        5,
        "managed-memory migrations run under 20 % of the kernel time or more, and under 10 % of the scope",
        "such kernels wait for pages rather than compute",
    ),
    Rule(
        "small_grids",
        5,
        "kernels cover under half of the SMs while they run, work is 20 % of the scope, 10 % of it wasted",
        "a kernel that runs is not a GPU that is full",
    ),
    Rule("data", 5, "10 % of the scope or more", "the GPU waits inside ranges named like data loading"),
    Rule("input", 5, "10 % of the scope or more", "inferred: the idle gap ends with a copy from the host"),
    Rule("launch", 5, "10 % of the scope or more", "short gaps between launches: the host cannot keep up"),
    Rule("host", 5, "10 % of the scope or more", "long gaps in host code"),
    Rule("blocked", 5, "10 % of the scope or more", "the driving threads sleep in the operating system"),
    Rule("sync", 5, "10 % of the scope or more", "tails of waits; never blamed by count"),
    Rule("alloc", 5, "10 % of the scope or more", "allocation with the GPU idle"),
    Rule("transfer", 5, "10 % of the scope or more", "copies that nothing hides"),
    Rule("comm", 5, "10 % of the scope or more", "communication that nothing hides"),
    Rule("device_wait", 5, "10 % of the scope or more", "work starts 100 µs or more after its call returned"),
    Rule(
        "other_device",
        5,
        "10 % of the scope, or 30 % of the window, or more",
        "another GPU of the same process works meanwhile",
    ),
    Rule("shared_gpu", 5, "10 % of the scope or more", "another process works on this GPU"),
    Rule("graph_build", 5, "10 % of the scope or more", "graphs are captured or built again and again"),
    Rule("loading", 5, "10 % of the scope or more", "code is loaded inside the scope"),
    Rule("compile", 5, "10 % of the scope or more", "compiling inside the scope"),
    Rule(
        "gpu_bound",
        6,
        "no finding of order 1 to 4, small grids or migration, and work is 85 % of the scope; 80 % without findings",
        "healthy: what is left to win is inside the kernels",
    ),
    Rule("mixed", 7, "none of these", "no single cause takes a tenth"),
    Rule("profiler", 9, "5 % of the window or of the scope or more; never the first finding", "the recording itself"),
)
"""In the order of the page; `BY_SHARE` are those that a cause's own share decides."""

BY_SHARE = (
    "data",
    "input",
    "launch",
    "blocked",
    "host",
    "sync",
    "alloc",
    "transfer",
    "comm",
    "device_wait",
    "other_device",
    "shared_gpu",
    "graph_build",
    "loading",
    "compile",
)
FIRST = ("failed_calls", "startup", "unseen_wait", "few_operations")
"""Findings of orders 1 to 4: they come before all others, in this order."""
ONCE = (
    "startup",
    "teardown",
    "loading",
    "compile",
    "alloc",
    "data",
    "input",
    "launch",
    "blocked",
    "host",
    "sync",
    "graph_build",
    "device_wait",
)
"""Causes of idle time that count as paid once where they lie outside the scope."""
