"""Notes on how the GPU is fed: what holds it up and can be done about it, a sentence or two each.

What is not there gives no note; what is inferred says "probably", and what would be won "at most".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from wallsplit import units
from wallsplit.diagnosis.explanation import Explained, Explanation
from wallsplit.ledger.ledger import Ledger
from wallsplit.model.device_clock import ClockAhead
from wallsplit.note import Note
from wallsplit.text import shorten
from wallsplit.why.contention import Contention
from wallsplit.why.launch import Backpressure
from wallsplit.why.managed_memory import ManagedMemory
from wallsplit.why.memory import MemoryUse
from wallsplit.why.pageable import PageableCopies

WORTH_TELLING = 0.01
"""Times below this share of the window get no note."""
RANGES_NAMED = 3


def gpu_use_notes(
    ledgers: Sequence[Ledger], explained: Explained | None, memory_of_gpus: Mapping[int, int]
) -> tuple[Note, ...]:
    """Return the notes on the ledgers of one analysis; `memory_of_gpus`: bytes by GPU."""
    if explained is None:
        return ()
    notes: list[Note] = []
    seen: set[int] = set()
    for ledger, why in zip(ledgers, explained.ledgers, strict=True):
        own = _of_ledger(ledger, why, memory_of_gpus)
        notes += [replace(note, pid=ledger.pid, device=ledger.device) for note in own]
        if ledger.pid not in seen:  # threads are a process's, whatever the device
            notes += [replace(n, pid=ledger.pid) for n in contention_note(ledger.pid, why.contention, ledger.wall_ns)]
        seen.add(ledger.pid)
    return (*notes, *clock_notes(explained.clocks_ahead), *other_threads_note(explained.range_threads))


def _of_ledger(ledger: Ledger, why: Explanation, memory_of_gpus: Mapping[int, int]) -> Iterator[Note]:
    pressed = why.launch.backpressure if why.launch else None
    yield from memory_note(ledger.pid, why.memory_use, _capacity(memory_of_gpus, ledger.gpu))
    yield from pageable_note(ledger.pid, why.pageable_copies, ledger.wall_ns)
    yield from managed_memory_note(ledger.pid, why.managed_memory, ledger.wall_ns)
    yield from full_queue_note(ledger.pid, pressed, ledger.wall_ns)


def _capacity(memory_of_gpus: Mapping[int, int], gpu: int | None) -> int | None:
    """Return the bytes of a GPU's memory; where it is not known which, of the only one."""
    if gpu is None and len(memory_of_gpus) == 1:
        return next(iter(memory_of_gpus.values()))
    return None if gpu is None else memory_of_gpus.get(gpu)


def pageable_note(pid: int, copies: PageableCopies | None, wall_ns: int) -> Iterator[Note]:
    """Note asynchronous copies that block because their memory is pageable."""
    if copies and copies.host_ns >= WORTH_TELLING * wall_ns:
        yield Note(
            "pageable_copies",
            "info",
            f"Process {pid}: {copies.count:,} “asynchronous” copies ({units.size(copies.bytes)}) move pageable memory, "
            f"so their calls wait until the copy is done: {units.ns(copies.host_ns)} of the host's time, "
            f"{units.ns(copies.waiting_ns)} of it before the copy begins. Pinned memory would give it back, and "
            f"shorten the run by at most {units.ns(copies.idle_ns)}, the part with the GPU idle.",
        )


def managed_memory_note(pid: int, managed: ManagedMemory | None, wall_ns: int) -> Iterator[Note]:
    """Note migrations of managed memory under kernels."""
    if managed and managed.migrating_ns >= WORTH_TELLING * wall_ns:
        moved = f"{units.size(managed.to_device_bytes)} to the GPU and {units.size(managed.to_host_bytes)} back"
        faults = (
            f"; the GPU raised {managed.gpu_faults:,} page faults in {managed.gpu_fault_groups:,} groups"
            if managed.gpu_fault_groups
            else ""
        )
        yield Note(
            "managed_memory",
            "info",
            f"Process {pid}: managed memory migrates {managed.migration_count:,} times, {moved}{faults}. "
            f"{units.ns(managed.under_kernels_ns)} of {units.ns(managed.kernel_ns)} of kernel time have migrations "
            "under them: the kernels probably wait for their pages. Prefetch (cudaMemPrefetchAsync), or copy "
            "explicitly.",
        )


def full_queue_note(pid: int, pressed: Backpressure | None, wall_ns: int) -> Iterator[Note]:
    """Note launches that wait for room in a full queue."""
    if pressed and pressed.total_ns >= WORTH_TELLING * wall_ns:
        yield Note(
            "full_queue",
            "info",
            f"Process {pid}: {pressed.count:,} launches took {units.ns(pressed.total_ns)} because the launch queue was "
            f"full (about {pressed.depth_med or 0:,.0f} operations pending). The host is ahead of the GPU: this costs "
            "nothing by itself.",
        )


def contention_note(pid: int, threads: Contention | None, wall_ns: int) -> Iterator[Note]:
    """Note threads inside launch calls at once."""
    if threads and threads.contended_ns >= WORTH_TELLING * wall_ns:
        share = threads.contended_ns / threads.launching_ns
        yield Note(
            "launch_contention",
            "info",
            f"Process {pid}: {threads.threads} threads launch work, up to {threads.most_threads} at once; for "
            f"{units.ns(threads.contended_ns)}, {units.ratio(share)} of the time in launch calls, at least two were in "
            "one, where they probably wait for each other. Launch from one thread, or by CUDA graphs.",
        )


def clock_notes(clocks: Sequence[ClockAhead]) -> Iterator[Note]:
    """Note devices whose clock runs ahead of the host's."""
    for clock in clocks:
        yield Note(
            "device_clock_ahead",
            "info",
            f"Process {clock.pid}, GPU {clock.device}: {clock.count:,} waits return up to {units.ns(clock.largest_ns)} "
            "before the work they wait for ends: the device's clock runs ahead of the host's. Nothing is corrected; "
            "times between calls and GPU work are uncertain by as much.",
            clock.pid,
            clock.device,
        )


def memory_note(pid: int, use: MemoryUse | None, capacity: int | None = None) -> Iterator[Note]:
    """Note the high-water mark of memory, of a capacity in bytes, and growth that looks like a leak."""
    if use is None:
        return
    grows = use.growth_per_step_bytes or 0
    leak = (
        f" Each later step leaves {units.size(grows)} more behind, as a leak does: see what is kept from step to step."
        if grows
        else ""
    )
    of = f" of {units.size(capacity)}" if capacity else ""
    yield Note(
        "device_memory",
        "warning" if grows else "info",
        f"Process {pid}: at most {units.size(use.peak_bytes)}{of} of GPU memory were held, "
        f"at {units.ns(use.peak_at_ns)} of the trace.{leak}",
    )


def other_threads_note(ranges: pl.DataFrame) -> Iterator[Note]:
    """Note NVTX ranges (`schema.RANGE_THREADS`) most of whose work other threads launched."""
    mostly = ranges.filter(pl.col("other_operations") > pl.col("own_operations"))
    if mostly.is_empty():
        return
    shown = [
        f"{shorten(name)} ({units.ratio(own)} by its own thread; with the others {units.ns(own_ns + other_ns)})"
        for name, own, own_ns, other_ns in mostly.select("range", "own_ratio", "own_ns", "other_ns")
        .head(RANGES_NAMED)
        .iter_rows()
    ]
    more = f" and {mostly.height - len(shown)} more" if mostly.height > len(shown) else ""
    yield Note(
        "other_threads",
        "info",
        f"Most of the GPU's work under {', '.join(shown)}{more} was launched by other threads, as PyTorch's backward "
        "pass is: what tables list under such a range leaves that out.",
    )
