"""Whether what the CPU executes can be sampled here, what to set where not, and what a capture then records."""

import os
from pathlib import Path
from typing import Literal

from wallsplit_scripts import nsys
from wallsplit_scripts.messages import say
from wallsplit_scripts.nsys import CaptureOptions, GraphTrace, Nsys

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
PARANOID_LIMIT = 2  # nsys samples the CPU of its own process tree up to this value
KERNEL_LIMIT = 1  # and the kernel's own work up to this one


def capture_options(
    tool: Nsys,
    device: Literal["cpu", "gpu"] | None,
    graph_trace: GraphTrace = "auto",
    *,
    cpu_samples: bool | None = None,
    os_calls: bool | None = None,
) -> CaptureOptions:
    """Return what to record of a program that computes on `device`, None = not known; None elsewhere = the default.

    Samples are taken where the kernel permits; where it does not, a line says what to set. Of a program that computes
    on the CPU they say where its time goes, and tracing OS calls would cost 7 to 12 % of it: by default it is left out.
    """
    refused = None if cpu_samples is False else refusal(tool)
    if refused:
        say(f"what the CPU executes is not sampled: {refused}")
    samples = refused is None if cpu_samples is None else cpu_samples
    return CaptureOptions(graph_trace, samples, not (samples and device == "cpu") if os_calls is None else os_calls)


def refusal(tool: Nsys) -> str | None:
    """Return why nsys cannot sample the CPU here, and what to set; None where it can."""
    allowed = nsys.may_sample(tool.path)
    if allowed:
        return None
    of_kernel = kernel_refusal(paranoid(), privileged=is_privileged())
    if allowed is None or of_kernel:
        return of_kernel
    return (
        "nsys is refused the system call perf_event_open, as in most containers; run the container with "
        "--cap-add=PERFMON and a seccomp profile that allows it"
    )


def kernel_refusal(level: int | None, *, privileged: bool) -> str | None:
    """Return why the kernel lets nobody sample, given perf_event_paranoid, and what to set; None where it does."""
    if level is None:
        return f"no {PARANOID}"
    if level > PARANOID_LIMIT and not privileged:
        return f"perf_event_paranoid is {level}; sysctl kernel.perf_event_paranoid={PARANOID_LIMIT}"
    return None


def paranoid() -> int | None:
    """Return the kernel's perf_event_paranoid; None where it has none."""
    try:
        return int(PARANOID.read_text())
    except (OSError, ValueError):
        return None


def is_privileged() -> bool:
    """Return whether this user is above the kernel's setting."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
