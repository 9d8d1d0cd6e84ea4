"""Which kernels only move data between GPUs, by name (docs/ledger.md, Accounts)."""

import re

LIBRARIES = (
    ("NCCL", r"^nccl"),
    ("RCCL", r"^rccl"),
    ("MSCCL++", r"^mscclpp"),
    ("NVSHMEM", r"nvshmem"),
    ("DeepEP", r"deep_?ep(\b|::)"),
    ("vLLM custom all-reduce", r"cross_device_reduce"),
    ("one- and two-shot all-reduce", r"(one|two)_?shot_?all_?reduce"),
    ("fused all-reduce", r"all_?reduce_?(fusion|kernel)"),
    ("TensorRT-LLM Lamport all-reduce", r"lamport_?style"),
    ("PyTorch symmetric memory", r"multimem_all_?reduce"),
    ("all-to-all kernels", r"all_?to_?all_?kernel"),
    ("reduce-scatter kernels", r"reduce_?scatter_?kernel"),
    ("all-gather kernels", r"all_?gather_?kernel"),
)
"""What a kernel's short or demangled name matches, ignoring case; the first library that matches names it."""

_LIBRARIES = tuple((library, re.compile(pattern, re.IGNORECASE)) for library, pattern in LIBRARIES)


def communication_library(name: str) -> str | None:
    """Return the library whose communication kernel bears this short or demangled name; None for any other kernel."""
    return next((library for library, pattern in _LIBRARIES if pattern.search(name)), None)
