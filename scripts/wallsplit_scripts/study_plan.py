"""What a study measures, in which order: every cell once before any is repeated, so that noise meets all alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wallsplit_study.cells import Cell, Part
from wallsplit_workloads import WORKLOADS
from wallsplit_workloads.workload import find

APPROACHES: Final = (
    "keras-gpu",
    "keras-cpu",
    "numpy-sample",
    "numpy",
    "jax-cpu",
    "jax-gpu",
    "jax-vmap",
    "cupy",
    "cupy-sample",
)
"""Ways to train R1's model, as rows of the grid."""
RETURN_EARLY: Final = ("jax-cpu", "jax-gpu", "jax-vmap", "cupy")
"""Approaches whose steps return before they are computed: their phases need a second pass that waits for each."""
DEVICE: Final = "device"
"""The parameter that says where a row runs: part of the row, so `--set` chooses rows by it."""
BATCHES: Final = (8, 32, 128, 512, 2048, 4096)
ITEM_EVERY: Final = (1, 10, 100, 200, 1000, 2000)


@dataclass(frozen=True)
class Wish:
    """What a person asked for; the defaults are the published study."""

    approaches: tuple[str, ...] = APPROACHES
    batches: tuple[int, ...] = BATCHES
    item_every: tuple[int, ...] = ITEM_EVERY
    repeat: int = 3
    epochs: int | None = None
    """Of every run; None: two for the grid, 20,000 for `item`, each workload's own else."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Given to every workload that has such a parameter."""
    quick: bool = False
    """Every part at its smallest sizes: to see it work, not to learn a time."""


QUICK: Final = Wish(batches=(32, 256), item_every=(100,), repeat=1, quick=True)
"""Every part once, in a few minutes."""


@dataclass(frozen=True)
class Row:
    """One workload with the parameters that make it a row or a place of a table."""

    workload: str
    approach: str
    varied: Mapping[str, str] = field(default_factory=dict)
    usual: Mapping[str, str] = field(default_factory=dict)
    """What `Wish.settings` may override."""
    quick: Mapping[str, str] | None = field(default_factory=dict)
    """What a quick study sets beside `SHORT`, over `usual`; None: it leaves the row out."""


def plan(parts: Sequence[Part], wish: Wish) -> list[Cell]:
    """Return the cells of the parts, part after part, each part's repeats interleaved."""
    return [
        Cell(part, row.workload, row.approach, _settings(row, wish), repeat)
        for part in parts
        for repeat in range(1, wish.repeat + 1)
        for row in rows(part, wish)
    ]


def rows(part: Part, wish: Wish) -> tuple[Row, ...]:
    """Return what one repeat of a part measures, in order."""
    return tuple(row for row in _rows(part, wish) if not (wish.quick and row.quick is None) and _on_device(row, wish))


def _rows(part: Part, wish: Wish) -> tuple[Row, ...]:
    match part:
        case "grid":
            return tuple(
                Row(a, a, {"batch": str(batch)}, {**_TWO, **_LIMITED.get(a, {})})
                for batch in wish.batches
                for a in wish.approaches
            )
        case "ops":
            return tuple(_ops())
        case "search":
            return _SEARCH
        case "item":
            return tuple(
                Row(
                    workload,
                    f"{workload}, {printing}",
                    {"item_every": str(every), "print_every": print_every},
                    quick={"epochs": "200"},
                )
                for every in wish.item_every
                for workload in ("iris-cpu", "iris-gpu")
                for printing, print_every in (("printing", "100"), ("no printing", "0"))
            )
        case "causes":
            return _CAUSES
        case "word2vec":
            return tuple(
                Row("word2vec", f"{n} worker{'s' * (n > 1)}", {"workers": str(n)}, quick=_TINY) for n in (1, 2)
            )
        case "break-even":
            return _BREAK_EVEN


def recorded(cell: Cell) -> Cell:
    """Return the cell as a file may hold it: of the data's path the last part only."""
    settings = {name: Path(text).name if name == "data" else text for name, text in cell.settings.items()}
    return Cell(cell.part, cell.workload, cell.approach, settings, cell.repeat)


def _on_device(row: Row, wish: Wish) -> bool:
    """Return whether the row runs where `--set device=…` says; NumPy's rows, of the CPU alone, stay beside others."""
    takes_device = any(parameter.name == DEVICE for parameter in find(WORKLOADS, row.workload).parameters)
    if DEVICE not in wish.settings or not takes_device or row.varied.get("backend") == "numpy":
        return True
    return row.varied.get(DEVICE, "cpu") == wish.settings[DEVICE]


def _settings(row: Row, wish: Wish) -> dict[str, str]:
    taken = {parameter.name for parameter in find(WORKLOADS, row.workload).parameters}
    epochs = {} if wish.epochs is None else {"epochs": str(wish.epochs)}
    given = {name: text for name, text in wish.settings.items() if name in taken and name != DEVICE}
    quick = {name: text for name, text in {**SHORT, **(row.quick or {})}.items() if name in taken} if wish.quick else {}
    return {**row.usual, **quick, **epochs, **given, **row.varied}


SHORT: Final = {"epochs": "2", "steps": "10"}
"""How long a run of a quick study is, where its row does not say."""
_TINY: Final = {"epochs": "1", "tokens": "20000"}
_TWO: Final = {"epochs": "2"}
_LIMITED: Final = {"cupy-sample": {"samples": "960"}}  # published: 89 s an epoch, the same every sample
_SMALL: Final = {"batch": "128", "epochs": "2"}
_PAIR: Final = {"models": "2"}
_ONE_THREAD: Final = {"processes": "5", "threads": "1"}
_SEARCH: Final = (
    Row("jax-vmap", "jax, vmap over five", usual=_SMALL),
    Row("pool", "jax, five processes", {"backend": "jax", "processes": "5"}, _SMALL, _PAIR),
    Row("jax-vmap-gpu", "jax on a GPU, vmap over five", usual=_SMALL),
    Row("pool", "jax, one by one", {"backend": "jax", "processes": "1"}, _SMALL, _PAIR),
    Row("pool", "keras, five processes", {"backend": "keras", "processes": "5"}, _SMALL, _PAIR),
    Row("pool", "keras, five processes of one thread", _ONE_THREAD | {"backend": "keras"}, _SMALL, None),
    Row("pool", "numpy, five processes", {"backend": "numpy", "processes": "5"}, _SMALL, _PAIR),
    Row("pool", "numpy, five processes of one thread", _ONE_THREAD | {"backend": "numpy"}, _SMALL, None),
    Row("pool", "numpy, one by one", {"backend": "numpy", "processes": "1"}, _SMALL, _PAIR),
)
_LARGE: Final = {"width": "2048"}
_FEW: Final = {"steps": "20"}
_GPU: Final = {"device": "cuda"}
_PINNED: Final = {"pin_memory": "true"}
_CAUSES: Final = (  # R3; the first row of a workload, a device and a width is what the others are compared with
    Row("loader-bound", "as it is"),
    Row("loader-bound", "two loader processes", {"workers": "2"}),
    Row("loader-bound", "four loader processes", {"workers": "4"}, quick=None),
    Row("transfer-bound", "as it is"),
    Row("transfer-bound", "batched", {"batched": "true"}),
    Row("too-small", "batch 8", {"batch": "8"}),
    Row("too-small", "batch 256", {"batch": "256"}),
    Row("mixed-precision", "width 128: fp32", {"width": "128"}, _FEW),
    Row("mixed-precision", "width 128: bf16", {"width": "128", "precision": "bf16"}, _FEW),
    Row("mixed-precision", "width 2,048: fp32", _LARGE, _FEW, None),
    Row("mixed-precision", "width 2,048: bf16", {**_LARGE, "precision": "bf16"}, _FEW, None),
    Row("mixed-precision", "width 2,048: fp32, Adam", {**_LARGE, "optimizer": "adam", "rate": "0.001"}, _FEW, None),
    Row("loader-bound", "GPU: as it is", _GPU),
    Row("loader-bound", "GPU: two loader processes", {**_GPU, "workers": "2"}),
    Row("loader-bound", "GPU: four loader processes", {**_GPU, "workers": "4"}),
    Row("loader-bound", "GPU: four, pinned memory", {**_GPU, "workers": "4", **_PINNED}),
    Row("loader-bound", "GPU: four, pinned, not waiting", {**_GPU, "workers": "4", **_PINNED, "non_blocking": "true"}),
    Row("transfer-bound", "GPU: as it is", _GPU),
    Row("transfer-bound", "GPU: batched", {**_GPU, "batched": "true"}),
    Row("too-small", "GPU: batch 8", {**_GPU, "batch": "8"}),
    Row("too-small", "GPU: batch 8, CUDA graph", {**_GPU, "batch": "8", "cuda_graph": "true"}),
    Row("too-small", "GPU: batch 256", {**_GPU, "batch": "256"}),
    *(
        Row(
            "mixed-precision",
            f"GPU, width {width:,}, batch {batch:,}: {name}",
            {**_GPU, "width": str(width), "batch": str(batch), **varied},
        )
        for width, batch in ((128, 256), (4096, 256), (4096, 4096))
        for name, varied in (
            *((name, {"precision": name}) for name in ("fp32", "tf32", "bf16", "fp16")),
            ("fp32, Adam", {"optimizer": "adam", "rate": "0.001"}),
        )
    ),
)
_CORNER: Final = {"epochs": "1", "width": "20", "batch": "32", "seconds": "0"}
_BREAK_EVEN: Final = (
    Row("break-even", "numpy", {"backend": "numpy"}, quick=_CORNER),
    Row("break-even", "jax", {"backend": "jax"}, quick=_CORNER),
    Row("break-even", "jax on a GPU", {"backend": "jax", "device": "cuda"}, quick=_CORNER),
)


def _ops() -> Iterator[Row]:
    """Yield each operation alone, one product, one step, at R1's batch of 32, by library and device."""
    for workload in ("op-timing", "matmul", "train-step"):
        for library in ("numpy", "tensorflow", "jax"):
            yield Row(workload, library, {"backend": library, "batch": "32"})
            if workload == "train-step" and library != "numpy":
                yield Row(workload, f"{library}, eager", {"backend": library, "batch": "32", "compiled": "false"})
        for library in ("tensorflow", "jax"):
            yield Row(workload, f"{library} on a GPU", {"backend": library, "batch": "32", "device": "cuda"})
