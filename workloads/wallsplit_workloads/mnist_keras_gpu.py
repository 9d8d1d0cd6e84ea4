"""R1's MNIST MLP in Keras on a GPU."""

from dataclasses import replace

from wallsplit_workloads import mnist_keras_cpu

WORKLOAD = replace(
    mnist_keras_cpu.WORKLOAD,
    name="keras-gpu",
    summary="MNIST MLP, Keras model.fit on a GPU",
    extra="tensorflow-gpu",
    device="gpu",
    cpu_sibling="keras-cpu",
)
