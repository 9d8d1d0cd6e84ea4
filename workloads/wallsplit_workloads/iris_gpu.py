"""R2's Iris MLP in PyTorch on a GPU."""

from dataclasses import replace

from wallsplit_workloads import iris_cpu

WORKLOAD = replace(
    iris_cpu.WORKLOAD,
    name="iris-gpu",
    summary="Iris MLP in PyTorch on a GPU, loss.item() every so many epochs",
    device="gpu",
    cpu_sibling="iris-cpu",
)
