"""How much do kernels wait for managed memory to come to them?"""

import polars as pl

from wallsplit.breakdowns.statistics import overlapping
from wallsplit.frozen import dataclass
from wallsplit.intervals import clip, intersect, merge, total_ns, union
from wallsplit.ledger.activity import Activity
from wallsplit.ledger.ledger import Window
from wallsplit.model import Model

TO_DEVICE = "[CUDA memcpy Unified Host-to-Device]"
TO_HOST = "[CUDA memcpy Unified Device-to-Host]"
BETWEEN_DEVICES = "[CUDA memcpy Unified Device-to-Device]"
_DIRECTIONS = (TO_DEVICE, TO_HOST, BETWEEN_DEVICES)


@dataclass(frozen=True)
class ManagedMemory:
    """Migrations of managed memory, and the page faults that cause them where they were recorded (else 0)."""

    migration_count: int
    to_device_bytes: int
    to_host_bytes: int
    between_devices_bytes: int
    migrating_ns: int
    """Union of the migrations."""
    under_kernels_ns: int
    """Of it while a kernel runs: the kernel probably waits for its pages."""
    kernel_ns: int
    """Union of the kernels."""
    gpu_fault_groups: int
    gpu_faults: int
    cpu_faults: int


def managed_memory(activity: Activity, window: Window, model: Model) -> ManagedMemory | None:
    """Return what managed memory costs in the window; None where none migrates and no fault was recorded.

    Times are cut at the window's ends; migrations and faults count where they overlap it.
    """
    if activity.rows is None or activity.layers is None or activity.device is None:
        return None
    is_migration = pl.col("operation").is_in(list(_DIRECTIONS))
    migrations = overlapping(activity.rows.memory_ops.filter(is_migration), window)
    own = (pl.col("pid") == activity.pid) & (pl.col("device") == activity.device)
    by_gpu = overlapping(model.gpu_page_faults.filter(own), window)
    at = pl.col("time").is_between(window.start_ns, window.end_ns, closed="left")
    by_cpu = model.cpu_page_faults.filter((pl.col("pid") == activity.pid) & at)
    if migrations.is_empty() and by_gpu.is_empty():
        return None
    migrating = clip(
        union(migrations["start"].to_numpy(), migrations["end"].to_numpy()), window.start_ns, window.end_ns
    )
    running = clip(merge([activity.layers["gpu.kernel"], activity.layers["gpu.comm"]]), window.start_ns, window.end_ns)
    moved = {name: int(migrations.filter(pl.col("operation") == name)["bytes"].sum()) for name in _DIRECTIONS}
    return ManagedMemory(
        migration_count=migrations.height,
        to_device_bytes=moved[TO_DEVICE],
        to_host_bytes=moved[TO_HOST],
        between_devices_bytes=moved[BETWEEN_DEVICES],
        migrating_ns=total_ns(migrating),
        under_kernels_ns=total_ns(intersect(migrating, running)),
        kernel_ns=total_ns(running),
        gpu_fault_groups=by_gpu.height,
        gpu_faults=int(by_gpu["faults"].sum()),
        cpu_faults=by_cpu.height,
    )
