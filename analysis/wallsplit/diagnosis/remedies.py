"""What to do about a finding, by framework: one table. Sources are the documentation pages named beside each row."""

from wallsplit.frozen import dataclass


@dataclass(frozen=True)
class Remedy:
    """What to do; where a framework has its own way, that way."""

    everyone: str
    pytorch: str = ""
    tensorflow: str = ""
    jax: str = ""
    source: str = ""
    """Where the way is documented."""


REMEDIES: dict[str, Remedy] = {
    "abstain": Remedy("record anew so that the launches have GPU rows; what the host did still holds"),
    "no_cuda": Remedy("if this should have run on a GPU, check that the framework sees one"),
    "no_gpu_use": Remedy("nothing: this process used no GPU"),
    "failed_calls": Remedy("fix the failing call first: nothing else means much"),
    "startup": Remedy(
        "record a longer run, or give --window on the steps; keep the process alive, cache compiled code",
        pytorch="warm up before timing; record a longer run; cache torch.compile (TORCHINDUCTOR_CACHE_DIR)",
        tensorflow="warm up before timing; record a longer run; keep the process, cache XLA's compilations",
        jax="warm up before timing; record a longer run; jax_compilation_cache_dir",
        source="CUDA C++ Programming Guide, Lazy Loading; each framework's page on its compilation cache",
    ),
    "unseen_wait": Remedy("find what the wait is for: a hang, another process or rank, or work whose rows were lost"),
    "few_operations": Remedy("do not tune the GPU yet: give it work first"),
    "migration": Remedy(
        "prefetch (cudaMemPrefetchAsync), advise (cudaMemAdvise), or copy explicitly; record page faults to see where",
        source="CUDA C++ Programming Guide, Unified Memory",
    ),
    "data": Remedy(
        "prepare batches ahead of the GPU: more loader processes, prefetching, decoded data kept in memory",
        pytorch="DataLoader(num_workers=…, pin_memory=True, prefetch_factor=…, persistent_workers=True)",
        tensorflow="tf.data: .cache(), .map(…, num_parallel_calls=tf.data.AUTOTUNE), .prefetch(tf.data.AUTOTUNE)",
        jax="prepare and put the next batch while the step runs: dispatch is asynchronous",
        source="PyTorch, Performance Tuning Guide; TensorFlow, Better performance with the tf.data API",
    ),
    "input": Remedy(
        "prepare and copy the next batch while the GPU works on this one, from pinned memory",
        pytorch="DataLoader(num_workers=…, pin_memory=True) and .to(device, non_blocking=True)",
        tensorflow="tf.data .prefetch(tf.data.AUTOTUNE), or tf.data.experimental.prefetch_to_device",
        jax="jax.device_put of the next batch before the result of this step is read",
        source="PyTorch, Performance Tuning Guide; TensorFlow, Better performance with the tf.data API",
    ),
    "launch": Remedy(
        "launch less: fuse kernels, larger batches, CUDA graphs",
        pytorch='torch.compile(mode="reduce-overhead"), or torch.cuda.graph around the step',
        tensorflow="model.compile(steps_per_execution=…, jit_compile=True)",
        jax="jit a larger part of the step; lax.scan over steps, vmap over models",
        source="PyTorch, CUDA Graphs; Keras, Model.compile; JAX, jax.jit and jax.lax.scan",
    ),
    "host": Remedy(
        "profile the Python code between the launches: callbacks, logging, metrics, conversions",
        tensorflow="fewer callbacks and metrics per batch; model.compile(steps_per_execution=…)",
    ),
    "blocked": Remedy("find whom the main thread waits for: a loader, a queue, another process"),
    "sync": Remedy(
        "read results later and less often; keep them on the device",
        pytorch="no .item(), .cpu() or print of tensors in the loop; collect on the device, read once",
        tensorflow="read metrics at the end of an epoch, not per batch",
        jax="block_until_ready only where a result is needed",
    ),
    "alloc": Remedy(
        "reuse buffers; allocate from a pool (cudaMallocAsync, a memory pool)",
        pytorch="keep shapes constant so that the caching allocator hits; PYTORCH_CUDA_ALLOC_CONF",
        source="CUDA C++ Programming Guide, Stream Ordered Memory Allocator",
    ),
    "transfer": Remedy(
        "pin host memory, copy asynchronously and in few large pieces, keep data on the device",
        pytorch="pin_memory=True and non_blocking=True; keep tensors on the GPU between steps",
        source="CUDA C++ Best Practices Guide, Data Transfer Between Host and Device",
    ),
    "comm": Remedy(
        "overlap communication with computing; balance the ranks",
        pytorch="DDP buckets (bucket_cap_mb), gradient_as_bucket_view, fewer accumulation syncs (no_sync)",
        source="PyTorch, DistributedDataParallel",
    ),
    "other_device": Remedy("balance the work between the GPUs of this process, or overlap it"),
    "device_wait": Remedy(
        "see what else the GPU or its driver does: another process, time slicing, a display; the trace cannot"
    ),
    "shared_gpu": Remedy("give each process its own GPU, or share it by MPS; neither is slow by itself"),
    "graph_build": Remedy("capture graphs once and replay them; keep shapes constant"),
    "loading": Remedy(
        "run every kernel once before the loop; fewer distinct kernels; CUDA_MODULE_LOADING=EAGER moves it to the start"
    ),
    "compile": Remedy(
        "keep shapes constant, pad to a few sizes, cache compilations",
        pytorch="torch.compile(dynamic=True) or padded shapes; see TORCH_LOGS=recompiles",
        tensorflow="tf.function with fixed input signatures",
        jax="pad to few shapes: each new shape compiles; jax_compilation_cache_dir",
    ),
    "small_grids": Remedy(
        "give each kernel more blocks: larger batches, several models at once, fused or split-K kernels",
        jax="vmap over models or samples; larger batches",
    ),
    "gpu_bound": Remedy(
        "nothing to win outside the kernels: tune those, lower the precision, use tensor cores",
        pytorch='torch.set_float32_matmul_precision("high") or bf16 autocast; torch.compile to fuse',
        tensorflow="mixed precision (keras.mixed_precision), XLA",
        jax="bf16, jax_default_matmul_precision",
    ),
    "mixed": Remedy("no single cause takes a tenth: see the shares"),
    "profiler": Remedy("record fewer kinds of events, no backtraces: the recording itself takes this time"),
}
"""By cause; every cause of rules.RULES has one."""


def remedy(cause: str, framework: str | None) -> str:
    """Return what to do about a cause in this framework; None = not known which."""
    known = REMEDIES[cause]
    own = {"pytorch": known.pytorch, "tensorflow": known.tensorflow, "jax": known.jax}.get(framework or "", "")
    return own or known.everyone
