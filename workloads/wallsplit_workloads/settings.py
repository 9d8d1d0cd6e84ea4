"""How the frameworks of a run were set: compiler, backend, precision, determinism; asked of what it has imported.

A speed measured with TF32 or with a compiled graph is another speed. Nothing is imported here: a framework the run did
without has no settings in it.
"""

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from wallsplit.run.manifest import Scalar


def settings(modules: Mapping[str, Any] = sys.modules) -> dict[str, Scalar]:
    """Return the settings of each framework among the imported modules, by name; what one does not tell is left out."""
    found: dict[str, Scalar] = {}
    if blas := _blas():
        found["blas"] = blas
    for framework, questions in _QUESTIONS.items():
        module = modules.get(framework)
        for name, ask in questions.items() if module is not None else ():
            with suppress(Exception):  # versions differ in what they can be asked
                found[name] = _plain(ask(module))
    return found


def peak_memory_bytes(modules: Mapping[str, Any] = sys.modules) -> dict[str, int]:
    """Return the most memory of a GPU that each imported framework counted, in bytes; empty on a CPU."""
    found: dict[str, int] = {}
    for name, (framework, ask) in _PEAKS.items():
        module = modules.get(framework)
        with suppress(Exception):  # without a GPU they raise, each in its own way
            if module is not None and (peak := int(ask(module))):
                found[name] = peak
    return found


def _blas() -> str | None:
    """Return NumPy's BLAS with version and kernel, as `openblas 0.3.30 SkylakeX`; None without threadpoolctl."""
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ImportError:
        return None
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool.get("user_api") == "blas"]
    words = (
        " ".join(str(pool[key]) for key in ("internal_api", "version", "architecture") if pool.get(key))
        for pool in pools
    )
    return ", ".join(dict.fromkeys(words)) or None


def _plain(value: object) -> Scalar:
    """Return a value as a manifest may hold it."""
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _determinism(tf: Any) -> bool:
    return bool(importlib.import_module("tensorflow.python.framework.config").is_op_determinism_enabled())


def _memory_growth(tf: Any) -> bool:
    return bool(tf.config.experimental.get_memory_growth(tf.config.list_physical_devices("GPU")[0]))


def _tensorflow_peak(tf: Any) -> int:
    return int(tf.config.experimental.get_memory_info("GPU:0")["peak"])


def _jax_peak(jax: Any) -> int:
    device = jax.devices()[0]
    return 0 if device.platform == "cpu" else int(device.memory_stats()["peak_bytes_in_use"])


_QUESTIONS: Final[Mapping[str, Mapping[str, Callable[[Any], object]]]] = {
    "keras": {"keras_backend": lambda keras: keras.backend.backend()},
    "tensorflow": {
        "tensorflow_xla": lambda tf: bool(tf.config.optimizer.get_jit()),
        "tensorflow_tf32": lambda tf: tf.config.experimental.tensor_float_32_execution_enabled(),
        "tensorflow_deterministic": _determinism,
        "tensorflow_memory_growth": _memory_growth,
    },
    "jax": {
        "xla": lambda jax: True,
        "jax_backend": lambda jax: jax.default_backend(),
        "jax_matmul_precision": lambda jax: jax.config.jax_default_matmul_precision or "default",
        "jax_x64": lambda jax: jax.config.jax_enable_x64,
        "jax_preallocates": lambda jax: (
            os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "true").lower() in ("true", "1")
        ),
    },
    "torch": {
        "torch_matmul_precision": lambda torch: torch.get_float32_matmul_precision(),
        "torch_tf32": lambda torch: torch.backends.cuda.matmul.allow_tf32,
        "torch_cudnn_tf32": lambda torch: torch.backends.cudnn.allow_tf32,
        "torch_cudnn_benchmark": lambda torch: torch.backends.cudnn.benchmark,
        "torch_cudnn_deterministic": lambda torch: torch.backends.cudnn.deterministic,
        "torch_deterministic": lambda torch: torch.are_deterministic_algorithms_enabled(),
    },
}
"""Of each framework, a setting's name and how to ask for it."""

_PEAKS: Final[Mapping[str, tuple[str, Callable[[Any], int]]]] = {
    "torch_allocated": ("torch", lambda torch: torch.cuda.max_memory_allocated()),
    "torch_reserved": ("torch", lambda torch: torch.cuda.max_memory_reserved()),
    "tensorflow": ("tensorflow", _tensorflow_peak),
    "jax": ("jax", _jax_peak),
}
"""Of each count of memory, who counts it and how it is asked."""
