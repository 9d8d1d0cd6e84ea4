"""What the export holds beside the tables that were read: no number of an analysis comes from it."""

import re

from wallsplit.frozen import dataclass
from wallsplit.trace import Trace

OTHER_GPU_WORK = (
    ("Vulkan", r"^VULKAN_"),
    ("OpenGL", r"^(OPENGL|KHR_DEBUG)_"),
    ("DirectX", r"^(DX|D3D)\d+_"),
    ("video engines", r"^NVVIDEO_"),
    ("GPU queues of Windows", r"^WDDM_"),
    ("GPU context switches", r"^(GPU_CONTEXT_SWITCH|FECS)_EVENTS$"),
)
"""Tables whose rows tell of GPU work that is not CUDA's, by name (nsys' SQLite schema, 2020 to 2025)."""


@dataclass(frozen=True)
class NotUsedTable:
    """A table with rows that no number came from."""

    table: str
    rows: int

    @property
    def gpu_work(self) -> str | None:
        """Return what kind of GPU work, other than CUDA's, it tells of; None for every other table."""
        return next((kind for kind, pattern in OTHER_GPU_WORK if re.search(pattern, self.table)), None)


def not_used(trace: Trace) -> tuple[NotUsedTable, ...]:
    """Return the tables that have rows and were not read, most rows first; to be asked when all others have been.

    Raises:
        TraceError: the file is damaged.
    """
    return tuple(NotUsedTable(table, rows) for table, rows in trace.not_scanned().items())
