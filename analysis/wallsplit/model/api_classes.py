"""The classes of CUDA API calls, by name (docs/ledger.md, API classes)."""

import re

_NOISIV = re.compile(r"(\d+v_|zstp_|sdtp_)+")
"""The suffixes (_v\\d+|_ptsz|_ptds)+, backwards: searched forwards, a name of many takes quadratic time."""

RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("launch", re.compile(r"^(cuLaunch|cudaLaunch|cuGraphLaunch|cudaGraphLaunch)(?!HostFunc)")),
    ("sync", re.compile(r"(Synchronize$|^cu(da)?EventQuery|^cu(da)?StreamQuery)")),
    (
        "graph_build",
        re.compile(
            r"(^cu(da)?Graph(?!ics)|StreamBeginCapture|StreamEndCapture|StreamIsCapturing|StreamGetCaptureInfo"
            r"|ThreadExchangeStreamCaptureMode)"
        ),
    ),
    ("memset", re.compile(r"Memset")),
    ("memcpy", re.compile(r"(Memcpy|MemPrefetch)")),
    (
        "alloc",
        re.compile(
            r"(Malloc|MemAlloc|MemHostAlloc|HostAlloc|MemFree|^cudaFree|HostRegister|HostUnregister"
            r"|^cuMem(Address|Create|Release|Map|Unmap|SetAccess|Pool)|MemPool)"
        ),
    ),
    (
        "setup",
        re.compile(
            r"(Module|Library|^cuLink|^cuKernel|FuncGet|FuncSet|GetFuncBySymbol|^cuCtx|^cuDevice|^cudaDeviceReset"
            r"|^cudaSetDevice|^cudaGetDevice|^cudaDeviceGet|^cuInit|GetProcAddress|DriverGetVersion"
            r"|GetDriverEntryPoint|Occupancy|PrimaryCtx|TensorMapEncode|StreamCreate|StreamDestroy)"
        ),
    ),
)
"""First match decides; a name no rule matches is `other`."""


def normalised(name: str) -> str:
    """Return an API name without its version suffixes: `cuMemAlloc_v2` → `cuMemAlloc`."""
    suffixes = _NOISIV.match(name[::-1])
    return name[: len(name) - suffixes.end()] if suffixes else name


def api_class(name: str) -> str:
    """Return the class (schema.API_CLASSES) of a normalised API name."""
    return next((kind for kind, rule in RULES if rule.search(name)), "other")
