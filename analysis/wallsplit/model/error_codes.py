"""What CUDA's error codes mean, in a few words each.

Source: enum cudaError of the CUDA Runtime API reference (driver_types.h, CUDA 13), section "Data types used by CUDA
Runtime"; from CUDA 10.1 on the driver's CUresult has the same numbers for the same errors.
"""

from wallsplit.frozen import dataclass

OUT_OF_MEMORY = 2
NOT_READY = 600
"""The answer to a query, no failure: the work asked about has not finished."""


@dataclass(frozen=True)
class ErrorCode:
    """One value of cudaError."""

    code: int
    meaning: str
    is_final: bool = False
    """Afterwards the process can do no more CUDA work: every later call returns the same."""


TABLE = (
    ErrorCode(1, "invalid value"),
    ErrorCode(OUT_OF_MEMORY, "out of memory"),
    ErrorCode(3, "CUDA is not initialised"),
    ErrorCode(4, "CUDA is shutting down"),
    ErrorCode(9, "invalid launch configuration"),
    ErrorCode(34, "a stub library stands in for the driver"),
    ErrorCode(35, "the driver is older than the CUDA runtime needs"),
    ErrorCode(46, "the GPU is busy or not available"),
    ErrorCode(98, "invalid device function"),
    ErrorCode(100, "no CUDA device"),
    ErrorCode(101, "invalid device number"),
    ErrorCode(200, "invalid kernel image"),
    ErrorCode(201, "invalid context"),
    ErrorCode(209, "no kernel image for this GPU"),
    ErrorCode(214, "uncorrectable memory error"),
    ErrorCode(217, "the GPUs cannot reach each other's memory"),
    ErrorCode(218, "invalid PTX"),
    ErrorCode(220, "uncorrectable NVLink error"),
    ErrorCode(222, "PTX of a newer CUDA than the driver knows"),
    ErrorCode(304, "a call of the operating system failed"),
    ErrorCode(400, "invalid handle"),
    ErrorCode(401, "illegal state"),
    ErrorCode(500, "symbol not found"),
    ErrorCode(NOT_READY, "not ready"),
    ErrorCode(700, "illegal memory access", is_final=True),
    ErrorCode(701, "a launch needs more resources than there are"),
    ErrorCode(702, "a kernel ran into the time limit", is_final=True),
    ErrorCode(704, "access between the GPUs is enabled already"),
    ErrorCode(705, "access between the GPUs is not enabled"),
    ErrorCode(709, "the context was destroyed"),
    ErrorCode(710, "an assertion in a kernel failed", is_final=True),
    ErrorCode(712, "the memory is page-locked already"),
    ErrorCode(713, "the memory is not page-locked"),
    ErrorCode(714, "hardware stack error", is_final=True),
    ErrorCode(715, "illegal instruction", is_final=True),
    ErrorCode(716, "misaligned address", is_final=True),
    ErrorCode(717, "instruction on a wrong address space", is_final=True),
    ErrorCode(718, "invalid program counter", is_final=True),
    ErrorCode(719, "a kernel failed", is_final=True),
    ErrorCode(720, "a cooperative launch is too large"),
    ErrorCode(800, "not permitted"),
    ErrorCode(801, "not supported"),
    ErrorCode(802, "the system is not ready"),
    ErrorCode(803, "driver and system libraries do not match"),
    ErrorCode(900, "not allowed while a stream is captured"),
    ErrorCode(901, "an earlier error spoilt the capture"),
    ErrorCode(909, "a wait ran into its time limit"),
    ErrorCode(910, "the graph cannot be updated in place"),
    ErrorCode(999, "unknown error"),
)
_BY_CODE = {error.code: error for error in TABLE}


def in_words(code: int) -> str:
    """Return what a call returned: `out of memory (code 2)`; the bare code where the table does not know it."""
    error = _BY_CODE.get(code)
    return f"{error.meaning} (code {code})" if error else f"code {code}"


def is_final(code: int) -> bool:
    """Return whether CUDA refuses all further work of a process after this error."""
    return code in _BY_CODE and _BY_CODE[code].is_final
