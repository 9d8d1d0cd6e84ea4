"""R1's hyper-parameter search in JAX on a GPU."""

from dataclasses import replace

from wallsplit_workloads import mnist_jax_vmap

WORKLOAD = replace(
    mnist_jax_vmap.WORKLOAD,
    name="jax-vmap-gpu",
    summary="MNIST MLP, five learning rates at once with jax.vmap on a GPU",
    extra="jax-gpu",
    device="gpu",
    cpu_sibling="jax-vmap",
)
