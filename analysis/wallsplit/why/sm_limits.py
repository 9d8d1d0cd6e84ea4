"""How many blocks of a kernel fit on one streaming multiprocessor (SM) at once, and what limits them.

The rules are those of NVIDIA's occupancy calculator, `cuda_occupancy.h` of the CUDA runtime: with everything else left
to the SM, the fewest blocks that warps, block slots, registers or shared memory allow.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.frozen import dataclass

LIMITS = ("warps", "blocks", "registers", "shared memory")
"""What can limit the blocks on an SM; of several that limit alike, the first is named."""
WARP = 32  # threads
REGISTER_UNIT = 256  # registers are handed to a warp in units of it
SHAPE = ("threads", "registers", "static_shared_bytes", "dynamic_shared_bytes")
"""The columns of `schema.KERNELS` that decide how many blocks fit."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SmLimits:
    """What one SM holds at once."""

    warps: int
    blocks: int
    registers: int
    shared_bytes: int


SM_LIMITS = {  # by compute capability; used where the export does not say
    # Blocks: cuda_occupancy.h of the CUDA 13.5 runtime. Warps, registers and shared memory: CUDA C++ Programming Guide,
    # "Technical Specifications per Compute Capability".
    (5, 0): SmLimits(64, 32, 65_536, 65_536),
    (5, 2): SmLimits(64, 32, 65_536, 98_304),
    (5, 3): SmLimits(64, 32, 65_536, 65_536),
    (6, 0): SmLimits(64, 32, 65_536, 65_536),
    (6, 1): SmLimits(64, 32, 65_536, 98_304),
    (6, 2): SmLimits(64, 32, 65_536, 65_536),
    (7, 0): SmLimits(64, 32, 65_536, 98_304),
    (7, 2): SmLimits(64, 32, 65_536, 98_304),
    (7, 5): SmLimits(32, 16, 65_536, 65_536),
    (8, 0): SmLimits(64, 32, 65_536, 167_936),
    (8, 6): SmLimits(48, 16, 65_536, 102_400),
    (8, 7): SmLimits(48, 16, 65_536, 167_936),
    (8, 9): SmLimits(48, 24, 65_536, 102_400),
    (9, 0): SmLimits(64, 32, 65_536, 233_472),
    (10, 0): SmLimits(64, 32, 65_536, 233_472),
    (10, 3): SmLimits(64, 32, 65_536, 233_472),
    (11, 0): SmLimits(48, 24, 65_536, 233_472),
    (12, 0): SmLimits(48, 24, 65_536, 102_400),
    (12, 1): SmLimits(48, 24, 65_536, 102_400),
}


@dataclass(frozen=True)
class Multiprocessors:
    """The SMs of a GPU: how many there are, what each holds, and in which portions it hands that out."""

    count: int
    limits: SmLimits
    partitions: int
    """Schedulers of an SM: each has its share of the registers, and no warp has registers of two."""
    shared_unit_bytes: int
    shared_reserved_bytes: int
    """Shared memory that the system takes for each block."""

    @classmethod
    def of(cls, gpu: Mapping[str, Any]) -> "Multiprocessors | None":
        """Return the SMs of a GPU as a row of `schema.GPUS` describes it; None where that does not suffice."""
        if not gpu["sm_count"] or not gpu["compute_capability"]:
            return None
        major, minor = (int(part) for part in gpu["compute_capability"].split("."))
        known = SM_LIMITS.get((major, minor))
        tabled = (known.warps, known.blocks, known.registers, known.shared_bytes) if known else (None,) * 4
        limits = [gpu[column] or value for column, value in zip(GPU_COLUMNS, tabled, strict=True)]
        complete = [int(value) for value in limits if value]
        if major <= 0 or len(complete) < len(limits):
            return None
        since_ampere = major >= 8
        return cls(
            count=gpu["sm_count"],
            limits=SmLimits(*complete),
            partitions=2 if (major, minor) == (6, 0) else 4,
            shared_unit_bytes=128 if since_ampere else 256,
            shared_reserved_bytes=1_024 if since_ampere else 0,
        )

    def resident(self, shapes: pl.DataFrame) -> tuple[Integers, npt.NDArray[np.intp]]:
        """Return (blocks on one SM, what limits them as a position in LIMITS) for each of the kernel shapes.

        0 blocks: such a kernel cannot run. `shapes` has the columns SHAPE; what was not recorded counts as 0.
        """
        threads, registers, fixed, dynamic = (shapes[c].fill_null(0).cast(pl.Int64).to_numpy() for c in SHAPE)
        warps = -(-threads // WARP)
        per_warp = _rounded_up(WARP * registers, REGISTER_UNIT)
        shared = _rounded_up(fixed + dynamic + self.shared_reserved_bytes, self.shared_unit_bytes)
        unlimited = self.limits.blocks  # a kernel without registers, or without shared memory
        fitting_warps = self.limits.registers // self.partitions // np.maximum(per_warp, 1) * self.partitions
        by_limit = np.stack(
            [
                self.limits.warps // warps,
                np.full(len(shapes), self.limits.blocks),
                np.where(per_warp > 0, fitting_warps // warps, unlimited),
                np.where(shared > 0, self.limits.shared_bytes // np.maximum(shared, 1), unlimited),
            ]
        )
        return by_limit.min(axis=0), by_limit.argmin(axis=0)


GPU_COLUMNS = (
    "max_warps_per_sm",
    "max_blocks_per_sm",
    "max_registers_per_sm",
    "max_shared_memory_per_sm_bytes",
)
"""The columns of `schema.GPUS` that hold the limits, in the order of SmLimits."""


def _rounded_up(values: Integers, unit: int) -> Integers:
    return -(-values // unit) * unit
