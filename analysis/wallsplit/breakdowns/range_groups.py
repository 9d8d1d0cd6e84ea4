"""Names of ranges without what only counts them: 18,000 names of one program become tens."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wallsplit.model.names import Names
from wallsplit.ranks import ranked

Ints = npt.NDArray[np.integer[Any]]

OPERATION_NUMBERS = r"(?:, (?:op_id|seq) = [0-9]+)+(, |$)"
"""What PyTorch's emit_nvtx appends to an operation's name: `aten::mm, seq = 3, op_id = 77`."""
LAST_NUMBER = r"[0-9]+(?:\s*/\s*[0-9]+)?([\])}]*\s*)$"
"""What a loop appends to its own: `step 12`, `epoch_3`, `batch 7/10`, `iteration[5]`."""


def groups(rows: Ints, names: Names) -> tuple[npt.NDArray[np.int64], pl.Series]:
    """Return (the group of each of these rows of names, by place; all groups): `grouped`, of many names.

    Names that PyTorch alone numbers are looked at once for all that differ in nothing else.
    """
    of_names, shapes = names.shapes
    bare = shapes.str.replace(OPERATION_NUMBERS, "$1")
    of_rows = of_names[rows]
    is_bare = ~bare.str.contains("[0-9]").to_numpy()[of_rows]
    used, place_of_bare = ranked(of_rows[is_bare])
    texts = pl.concat([bare.gather(used), names.text(pl.Series(rows[~is_bare]))])
    place = np.empty(len(rows), np.int64)
    place[is_bare] = place_of_bare
    place[~is_bare] = np.arange(len(used), len(texts))
    of_texts = grouped(texts).alias("group").to_frame()
    every = of_texts.unique(maintain_order=True).with_row_index("place")
    group = of_texts.join(every, on="group", how="left", maintain_order="left")["place"].cast(pl.Int64).to_numpy()
    return group[place], every["group"]


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
