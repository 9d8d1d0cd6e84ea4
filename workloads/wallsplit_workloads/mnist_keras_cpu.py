"""R1's MNIST MLP in Keras: `model.fit` with 20 % validation; NVTX ranges come from callbacks."""

import os
from time import perf_counter_ns
from typing import Any

from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Epoch
from wallsplit_workloads import mlp
from wallsplit_workloads.data import mnist
from wallsplit_workloads.machine import native_threads
from wallsplit_workloads.mnist_numpy import PARAMETERS
from wallsplit_workloads.training import progress_line
from wallsplit_workloads.workload import Device, Parameter, Result, RunContext, Workload


def run(context: RunContext) -> Result:
    """Train with Keras on the context's device."""
    with context.preparing("imports"):
        tf = import_tensorflow(context.device, context.optional_integer("threads"))
        keras = tf.keras
    batch = context.integer("batch")
    with context.preparing("data"):
        split = mnist(context.data_path, batch, context.optional_integer("steps"))
    keras.utils.set_random_seed(context.integer("seed"))
    model = mnist_model(keras, context.integer("seed"), context.number("rate"))
    clock = marking_callback(keras, context)
    model.fit(
        split.x_train,
        split.y_train,
        batch_size=batch,
        epochs=context.integer("epochs"),
        shuffle=context.flag("shuffle"),
        validation_data=(split.x_validation, split.y_validation),
        validation_batch_size=batch,
        callbacks=[clock],
        verbose=0,
    )
    threading = tf.config.threading
    return Result(
        data=split.record,
        model=mlp.shape(),
        steps=split.steps(batch),
        arithmetic=mlp.arithmetic(batch, len(split.x_train), len(split.x_validation)),
        threads={
            **native_threads(),
            "tensorflow_intra_op": threading.get_intra_op_parallelism_threads(),  # 0: one per core
            "tensorflow_inter_op": threading.get_inter_op_parallelism_threads(),
        },
        settings={"jit_compile": bool(model.jit_compile)},
        epochs=tuple(clock.epochs),
        step_wall_ns=tuple(clock.step_wall_ns),
    )


def import_tensorflow(device: Device, threads: int | None = None) -> Any:
    """Return the tensorflow module, restricted to the device and, if so many are given, in its threads.

    Raises:
        WallsplitError: a GPU is wanted and TensorFlow sees none.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # its start-up notes are no part of a workload's output
    import tensorflow as tf

    if threads is not None:  # before TensorFlow makes its pools, with the first operation
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    if device == "cpu":
        tf.config.set_visible_devices([], "GPU")
        return tf
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        raise WallsplitError("TensorFlow sees no GPU; install wallsplit[tensorflow-gpu] or choose a CPU workload")
    for gpu in gpus:  # else it takes all memory at the start, and no count of memory says anything
        tf.config.experimental.set_memory_growth(gpu, True)
    return tf


def mnist_model(keras: Any, seed: int, rate: float) -> Any:
    """Return 784→128→10, compiled with SGD and cross-entropy, starting from the weights every workload starts from."""
    inputs, hidden, classes = mlp.LAYERS
    model = keras.Sequential(
        [
            keras.Input((inputs,)),
            keras.layers.Dense(hidden, activation="relu"),
            keras.layers.Dense(classes, activation="softmax"),
        ]
    )
    model.compile(optimizer=keras.optimizers.SGD(rate), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.set_weights(mlp.initial_weights(seed))
    return model


def marking_callback(keras: Any, context: RunContext) -> Any:
    """Return a Keras callback that marks epoch, step and validation; has `epochs` and `step_wall_ns` afterwards.

    Keras fetches the batch inside the step's compiled function, so `data` cannot be told apart from it.
    """
    marks = context.marks

    class Marking(keras.callbacks.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.epochs: list[Epoch] = []
            self.step_wall_ns: list[int] = []
            self._epoch_start = self._train_end = self._step_start = 0

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self._epoch_start = perf_counter_ns()
            marks.push("epoch")

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self._step_start = perf_counter_ns()
            marks.push("step")

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            marks.pop()
            self.step_wall_ns.append(perf_counter_ns() - self._step_start)

        def on_test_begin(self, logs: Any = None) -> None:
            self._train_end = perf_counter_ns()
            marks.push("validation")

        def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
            marks.push("validation_step")

        def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
            marks.pop()

        def on_test_end(self, logs: Any = None) -> None:
            marks.pop()

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            marks.pop()
            end = perf_counter_ns()
            names = ("loss", "accuracy", "val_loss", "val_accuracy")
            scores = (float(logs[name]) for name in names)
            self.epochs.append(Epoch(end - self._epoch_start, self._train_end - self._epoch_start, *scores))
            context.progress(progress_line(epoch, self.epochs[-1]))

    return Marking()


THREADS = Parameter(
    "threads", int, None, "threads of TensorFlow, in and between operations; unset: its own choice", 1, 1024
)
WORKLOAD = Workload(
    "keras-cpu", "MNIST MLP, Keras model.fit on the CPU", run, (*PARAMETERS, THREADS), extra="tensorflow"
)
