"""NumPy, TensorFlow and JAX behind one small face, for the microbenchmarks that run on each."""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from wallsplit.errors import WallsplitError
from wallsplit_workloads import mnist_jax_cpu, mnist_keras_cpu
from wallsplit_workloads.machine import limit_native_threads
from wallsplit_workloads.mlp import Array
from wallsplit_workloads.workload import Device, Parameter, RunContext


@dataclass(frozen=True)
class Arrays:
    """An array library on a device."""

    xp: Any  # its functions under NumPy's names
    put: Callable[[Array], Array]  # a host array on the device
    wait: Callable[[Any], object]  # until the device has computed a value
    waiting: str  # what that is, in words: on a CPU there may be nothing to wait for
    compiled: Callable[[Callable[..., Any]], Callable[..., Any]]  # a function as the library compiles it


def arrays(context: RunContext) -> Arrays:
    """Return the library of the context's `backend` on its device; NumPy's BLAS with its `threads`.

    Raises:
        WallsplitError: a GPU is wanted of NumPy, or the library sees none.
    """
    limit_native_threads(context.optional_integer("threads"))
    return {"numpy": _numpy, "tensorflow": _tensorflow, "jax": _jax}[context.text("backend")](context.device)


def _numpy(device: Device) -> Arrays:
    if device == "gpu":
        raise WallsplitError("backend=numpy: NumPy computes on the CPU; choose backend=tensorflow or backend=jax")
    waiting = "nothing: a NumPy call returns when it has computed"
    return Arrays(np, np.asarray, wait=lambda value: value, waiting=waiting, compiled=lambda function: function)


def _jax(device: Device) -> Arrays:
    chosen = mnist_jax_cpu.pick_device(device)
    import jax
    import jax.numpy as jnp

    return Arrays(
        jnp,
        put=lambda array: jax.device_put(array, chosen),
        wait=jax.block_until_ready,
        waiting="block_until_ready: JAX computes in a thread of its own, on the CPU, too",
        compiled=jax.jit,
    )


def _tensorflow(device: Device) -> Arrays:
    tf = mnist_keras_cpu.import_tensorflow(device)
    names = SimpleNamespace(
        maximum=tf.maximum,
        exp=tf.exp,
        log=tf.math.log,
        sign=tf.sign,
        transpose=tf.transpose,
        max=lambda array, axis, keepdims=False: tf.reduce_max(array, axis, keepdims),
        sum=lambda array, axis=None, keepdims=False: tf.reduce_sum(array, axis, keepdims),
    )

    def wait(value: Any) -> object:
        return tf.test.experimental.sync_devices() if device == "gpu" else value

    waiting = {
        "cpu": "nothing: an operation of TensorFlow's on the CPU returns when it has computed, eager or compiled",
        "gpu": "sync_devices: until all that was launched is done",
    }
    return Arrays(names, tf.constant, wait=wait, waiting=waiting[device], compiled=tf.function)


BACKEND = Parameter("backend", str, "numpy", "array library", choices=("numpy", "tensorflow", "jax"))
