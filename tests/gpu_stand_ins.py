"""Frameworks that take the CPU for a GPU, so that the GPU paths of workloads run to their end where there is none.

`python -m gpu_stand_ins '[["jax-gpu", "--steps", "2", "--result", "x.json"], …]'` runs workloads one after the other,
each framework being imported once; the exit code is the first that is not 0.
"""

import json
import sys
from contextlib import nullcontext
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np

from wallsplit.run.manifest import Gpu
from wallsplit_workloads import machine

CAPABILITY = (8, 0)


class CudaGraph:
    """A recorded graph whose replay does nothing: the CPU computed while it was recorded."""

    replays = 0

    def replay(self) -> None:
        CudaGraph.replays += 1


def with_a_gpu() -> None:
    """Have this process find a GPU."""
    machine.gpu_lack = lambda: None
    machine.gpu = lambda nvml=None: Gpu("A GPU", 108)


def cupy() -> ModuleType:
    """Return NumPy under CuPy's name; it is importable from now on."""

    class NumPyBacked(ModuleType):
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    made = NumPyBacked("cupy")
    vars(made).update(asnumpy=np.asarray, cuda=mock.MagicMock(), __spec__=ModuleSpec("cupy", None))
    sys.modules["cupy"] = made
    return made


def torch(capability: tuple[int, int] = CAPABILITY) -> None:
    """Have PyTorch find a GPU of that capability, on which everything lands on the CPU."""
    import torch as real

    from wallsplit_workloads import torch_training

    set_up, device = torch_training.set_up, real.device

    def on_cpu(context: Any) -> Any:
        with mock.patch.object(real, "device", lambda kind: device("cpu")):
            return set_up(context)

    torch_training.set_up = on_cpu
    real.cuda.is_available = lambda: True
    real.cuda.get_device_capability = lambda device=None: capability
    real.cuda.max_memory_allocated = lambda device=None: 1_000
    real.cuda.max_memory_reserved = lambda device=None: 2_000
    real.cuda.synchronize = lambda device=None: None
    real.cuda.Stream = mock.MagicMock
    real.cuda.current_stream = mock.MagicMock()
    real.cuda.stream = lambda stream: nullcontext()
    real.cuda.CUDAGraph = CudaGraph
    real.cuda.graph = lambda graph: nullcontext()


def jax() -> None:
    """Have JAX give its CPU where a GPU is asked for."""
    import jax as real

    devices = real.devices
    real.devices = lambda kind=None: devices("cpu" if kind in ("gpu", "cuda") else kind)


def tensorflow() -> None:
    """Have TensorFlow list its CPU as a GPU, whose memory grows as it is told."""
    import tensorflow as tf

    listed, growth = tf.config.list_physical_devices, {}
    tf.config.list_physical_devices = lambda kind=None: listed("CPU" if kind == "GPU" else kind)
    tf.config.experimental.set_memory_growth = lambda gpu, grows: growth.update({gpu.name: grows})
    tf.config.experimental.get_memory_growth = lambda gpu: growth[gpu.name]
    tf.config.experimental.get_memory_info = lambda name: {"peak": 4_000, "current": 1}


def main(arguments: list[str]) -> int:
    """Run the workloads of the command line."""
    from wallsplit_workloads.__main__ import main as run

    with_a_gpu()
    framework, runs = arguments
    {"torch": torch, "jax": jax, "tensorflow": tensorflow, "cupy": cupy}[framework]()
    return next((code for one in json.loads(runs) if (code := run(one))), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
