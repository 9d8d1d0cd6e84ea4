"""Which framework launched the kernels, by their names."""

import re

import numpy as np
import polars as pl

from wallsplit.model import Names

FRAMEWORKS = (
    ("pytorch", r"\bat::|at_cuda_detail|\bc10::"),
    ("tensorflow", r"tensorflow::|Eigen::"),
    ("jax", r"^(wrapped_|input_|loop_)?(fusion|concatenate|broadcast|dynamic)[_\d]|xla"),
    ("cupy", r"^cupy_"),
    ("julia", r"^(ptxcall_|julia_|_Z\d+julia)"),
    ("openmp", r"__omp_offloading"),
    ("openacc", r"_\d+_gpu(__red)?$"),
    ("rapids", r"cudf::|rmm::"),
)
"""What a kernel's name holds, the namespaces and prefixes that each project gives its kernels; first match decides."""

LEAST_SHARE = 0.1
"""Of the kernels a framework has to own so many to be named: libraries' kernels bear nobody's name."""

_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in FRAMEWORKS)


def framework(kernels: pl.DataFrame, names: Names) -> str | None:
    """Return the framework that most of the kernels bear the mark of; None where none marks a tenth of them."""
    counts = kernels.group_by("name").len()
    texts = names.text(counts["name"]).to_list()
    owners = [next((owner for owner, pattern in _PATTERNS if pattern.search(text)), None) for text in texts]
    totals = {name: 0 for name, _ in FRAMEWORKS}
    for owner, count in zip(owners, counts["len"].to_numpy().astype(np.int64), strict=True):
        if owner:
            totals[owner] += int(count)
    most = min(totals, key=lambda name: (-totals[name], name))
    return most if totals[most] and totals[most] >= LEAST_SHARE * kernels.height else None
