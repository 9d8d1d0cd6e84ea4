"""Names of ranges without what only counts them: 18,000 names of one program become tens."""

import polars as pl

OPERATION_NUMBERS = r"(?:, (?:op_id|seq) = [0-9]+)+(, |$)"
"""What PyTorch's emit_nvtx appends to an operation's name: `aten::mm, seq = 3, op_id = 77`."""
LAST_NUMBER = r"[0-9]+(?:\s*/\s*[0-9]+)?([\])}]*\s*)$"
"""What a loop appends to its own: `step 12`, `epoch_3`, `batch 7/10`, `iteration[5]`."""


def grouped(names: pl.Series) -> pl.Series:
    """Return the group of each name, as many as there are names.

    PyTorch's numbers of operations are dropped. A number at the end becomes `*`, as in `step *`, where names differ in
    nothing else; a name of its own keeps it.
    """
    name, group = pl.col("name"), pl.col("group")
    texts = pl.DataFrame({"name": names.str.replace(OPERATION_NUMBERS, "$1")})
    distinct = texts.unique().with_columns(group=name.str.replace(LAST_NUMBER, "*$1"))
    alone = name.len().over("group") == 1
    groups = distinct.select("name", pl.when(alone).then(name).otherwise(group).alias("group"))
    return texts.join(groups, on="name", how="left", maintain_order="left")["group"]
