"""Where a GPU begins to pay: a training step by model and batch on the CPU and on a GPU, measured or modelled."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median
from typing import Final

from wallsplit import units
from wallsplit.figures.drawing import Figure
from wallsplit.report.document import Block, Cell, Column, Kind, Paragraph, Section, Table
from wallsplit_study import published
from wallsplit_study.cells import Outcome
from wallsplit_study.frames import summary
from wallsplit_study.plane import Corner, Curve, Marks, Place, plane
from wallsplit_study.results import records, whole
from wallsplit_study.tables import places

KEY: Final = "break-even"
EVERY_BATCH, NO_BATCH = "at every batch", "at none of these"
FLOORS: Final = (published.KERAS_STEP_SECONDS, published.MATMUL.gpu_us / 1e6 - published.LAYER_SECONDS)
"""What a step on a modelled GPU takes beside its arithmetic, in s: as a step of Keras', or as one product launched."""
RULE: Final = f"published rule: CPU below {published.RULE_PARAMETERS:,} parameters and batch {published.RULE_BATCH}"

Size = tuple[int, int]
"""Parameters of a model, and a batch."""


@dataclass(frozen=True)
class Step:
    """A training step: its operations, and how long it takes in ns on what is fastest at it."""

    flops: int
    wall_ns: float
    approach: str


Surface = Mapping[Size, Step]


@dataclass(frozen=True)
class Opponent:
    """A GPU that the CPU is compared with: measured here, or modelled from published figures."""

    title: str
    surface: Surface
    modelled: bool


def break_even(outcomes: Sequence[Outcome]) -> Section | None:
    """Return the surface of step times, and from which batch on a GPU is faster; None where nothing of it was run."""
    frame = summary(outcomes, KEY)
    if frame.is_empty():
        return None
    runs = places("Runs of the sweep", frame, ("approach", "median_ns", "min_ns", "max_ns", "n", "status"))
    cpu = measured_surface(outcomes, "cpu")
    if not cpu:
        return Section(KEY, "Break-even", (runs,))
    gpus = opponents(cpu, measured_surface(outcomes, "gpu"))
    blocks: tuple[Block, ...] = (
        _figure(cpu, gpus),
        Paragraph(_meaning(gpus)),
        crossings(cpu, gpus),
        agreement(cpu, gpus),
        _by_size("A step on the CPU, in the library that is fastest there", "ns", cpu, lambda step: step.wall_ns),
        _by_size("The fastest library", "text", cpu, lambda step: step.approach),
        _by_size("GFLOP/s that the CPU reaches", "number", cpu, lambda step: step.flops / step.wall_ns),
        *(_by_size(f"A step on the {gpu.title}", "ns", gpu.surface, lambda step: step.wall_ns) for gpu in gpus),
        runs,
    )
    return Section(KEY, "Break-even", blocks)


def measured_surface(outcomes: Sequence[Outcome], device: str) -> Surface:
    """Return the fastest step of each size on the device: medians over the repeats, the fastest approach of each."""
    walls: dict[tuple[Size, str], list[int]] = {}
    flops: dict[Size, int] = {}
    for outcome in outcomes:
        if outcome.cell.part != KEY or outcome.run is None or outcome.run.device != device:
            continue
        for point in records(outcome.run, "points"):
            parameters, batch, operations, wall_ns = (
                whole(point, name) for name in ("parameters", "batch", "flops", "median_ns")
            )
            if parameters and batch and operations and wall_ns:
                flops[parameters, batch] = operations
                walls.setdefault(((parameters, batch), outcome.cell.approach), []).append(wall_ns)
    fastest: dict[Size, Step] = {}
    for (size, approach), times in walls.items():
        step = Step(flops[size], median(times), approach)
        if size not in fastest or step.wall_ns < fastest[size].wall_ns:
            fastest[size] = step
    return dict(sorted(fastest.items()))


def opponents(cpu: Surface, gpu: Surface) -> tuple[Opponent, ...]:
    """Return the GPU as measured, where it was, and the modelled ones: floor + FLOPs ÷ peak of the published card."""
    modelled = (
        Opponent(
            f"modelled GPU, floor {units.ns(floor_s * 1e9)}",
            {
                size: Step(step.flops, floor_s * 1e9 + step.flops / published.PEAK_FLOPS * 1e9, "modelled")
                for size, step in cpu.items()
            },
            modelled=True,
        )
        for floor_s in FLOORS
    )
    measured = (Opponent("GPU here", gpu, modelled=False),) if gpu else ()
    return (*measured, *modelled)


def crossing(cpu: Surface, gpu: Surface, parameters: int) -> float | str | None:
    """Return from which batch on the GPU is as fast as the CPU, or EVERY_BATCH, or NO_BATCH; None: not measured.

    Between two batches both times are taken to go as straight lines on logarithmic axes.
    """
    batches = [batch for size, batch in cpu if size == parameters and (size, batch) in gpu]
    leads = [log(cpu[parameters, batch].wall_ns / gpu[parameters, batch].wall_ns) for batch in batches]
    first = next((number for number, lead in enumerate(leads) if lead >= 0), None)
    if first is None:
        return NO_BATCH if leads else None
    if first == 0:
        return EVERY_BATCH
    (before, after), (low, high) = leads[first - 1 : first + 1], batches[first - 1 : first + 1]
    return low * exp(log(high / low) * -before / (after - before))


def crossings(cpu: Surface, gpus: Sequence[Opponent]) -> Table:
    """Return, by model, the batch from which on each GPU is as fast as the CPU, and what the published rule says."""
    rows = tuple(
        (
            parameters,
            *(_rounded(crossing(cpu, gpu.surface, parameters)) for gpu in gpus),
            published.RULE_BATCH if parameters < published.RULE_PARAMETERS else EVERY_BATCH,
        )
        for parameters in _models(cpu)
    )
    columns = (
        Column("parameters", "count"),
        *(Column(gpu.title, "count", "not measured") for gpu in gpus),
        Column("published rule", "count"),
    )
    return Table("Break-even: the batch from which on a GPU is as fast as the CPU", columns, rows, len(rows))


def _rounded(batch: float | str | None) -> int | str | None:
    return round(batch) if isinstance(batch, float) else batch


def rule_says_cpu(size: Size) -> bool:
    """Return whether the published rule has the CPU faster at this size."""
    parameters, batch = size
    return parameters < published.RULE_PARAMETERS and batch < published.RULE_BATCH


def agreement(cpu: Surface, gpus: Sequence[Opponent]) -> Table:
    """Return, by GPU, in how many sizes the published rule names the faster one, and where it is wrong."""
    rows: list[tuple[Cell, ...]] = []
    for gpu in gpus:
        both = [size for size in cpu if size in gpu.surface]
        cpu_wins = {size: cpu[size].wall_ns < gpu.surface[size].wall_ns for size in both}
        wrong = [size for size in both if cpu_wins[size] != rule_says_cpu(size)]
        missed = sum(cpu_wins[size] for size in wrong)
        rows.append((gpu.title, len(both), len(both) - len(wrong), missed, len(wrong) - missed))
    columns = (
        Column("GPU"),
        Column("sizes", "count"),
        Column("the rule is right", "count"),
        Column("it says GPU, the CPU is faster", "count"),
        Column("it says CPU, the GPU is faster", "count"),
    )
    return Table("The published rule against the surface", columns, tuple(rows), len(rows))


def _meaning(gpus: Sequence[Opponent]) -> str:
    here = "" if any(not gpu.modelled for gpu in gpus) else "No GPU was measured here: every GPU below is modelled. "
    return (
        f"A training step of 784→width→10, the batch's way to the device included. {here}A modelled GPU takes a floor, "
        f"whatever the size, and FLOPs ÷ peak ({published.PEAK_FLOPS / 1e12:.1f} TFLOP/s). The floor is that of a step "
        f"of Keras', (6.5 s − 2.3 s) ÷ {sum(published.EPOCH_STEPS):,} = {units.ns(FLOORS[0] * 1e9)}, or, as low as can "
        f"be, that of one product launched, {published.MATMUL.gpu_us:g} µs less its arithmetic. No GPU reaches its "
        "peak with small products, and copies are left out, so a real one breaks even later than a modelled one with "
        "its floor. "
        f"Floors: {published.R1}."
    )


def _models(surface: Surface) -> list[int]:
    return sorted({parameters for parameters, _ in surface})


def _by_size(title: str, kind: Kind, surface: Surface, value: Callable[[Step], Cell]) -> Table:
    """Return a value of each step, models as rows and batches as columns."""
    batches = sorted({batch for _, batch in surface})
    rows = tuple(
        (model, *(value(surface[model, batch]) if (model, batch) in surface else None for batch in batches))
        for model in _models(surface)
    )
    columns = (Column("parameters", "count"), *(Column(f"batch {b:,}", kind, "not measured") for b in batches))
    return Table(title, columns, rows, len(rows))


def _figure(cpu: Surface, gpus: Sequence[Opponent]) -> Figure:
    first = gpus[0]
    both = [size for size in cpu if size in first.surface]
    faster = {size: cpu[size].wall_ns < first.surface[size].wall_ns for size in both}
    marks = tuple(
        Marks(f"{who} faster", tuple((float(p), float(b)) for p, b in both if faster[p, b] is cpu_wins))
        for who, cpu_wins in (("CPU", True), (f"GPU{', modelled,' if first.modelled else ''}", False))
    )
    curves = tuple(Curve(f"as fast as the {gpu.title}", _curve(cpu, gpu.surface), gpu.modelled) for gpu in gpus)
    corner = Corner(RULE, (float(published.RULE_PARAMETERS), float(published.RULE_BATCH)))
    words = (
        f"{parameters:,} parameters: {_in_words(crossing(cpu, first.surface, parameters))}"
        for parameters in _models(cpu)
    )
    return Figure(
        name=KEY,
        section=KEY,
        caption=f"Where the CPU and where a GPU is faster; marks compare with the {first.title}",
        alt=f"The {first.title} is as fast as the CPU from batch: {'; '.join(words)}",
        draw=lambda: plane(marks, curves, corner, "parameters of the model", "batch size"),
    )


def _curve(cpu: Surface, gpu: Surface) -> tuple[Place, ...]:
    crossings = ((parameters, crossing(cpu, gpu, parameters)) for parameters in _models(cpu))
    return tuple((float(parameters), batch) for parameters, batch in crossings if isinstance(batch, float))


def _in_words(batch: float | str | None) -> str:
    return f"{batch:,.0f}" if isinstance(batch, float) else batch or "not measured"
