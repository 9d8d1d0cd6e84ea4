"""R1's MNIST MLP in JAX on a GPU."""

from dataclasses import replace

from wallsplit_workloads import mnist_jax_cpu

WORKLOAD = replace(
    mnist_jax_cpu.WORKLOAD,
    name="jax-gpu",
    summary="MNIST MLP, jitted JAX step on a GPU",
    extra="jax-gpu",
    device="gpu",
    cpu_sibling="jax-cpu",
)
