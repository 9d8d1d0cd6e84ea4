"""How much of each class of CUDA calls the GPU's work hid."""

from wallsplit.analysis import Analysis
from wallsplit.figures.bars import Bar, Bars, Segment
from wallsplit.figures.drawing import Figure, stacked
from wallsplit.ledger.ledger import Exposure


def api_exposure(analysis: Analysis) -> Figure | None:
    """Return one bar per API class, split into hidden and exposed; None unless there is one ledger with a device."""
    if len(analysis.ledgers) != 1 or analysis.ledgers[0].device is None:
        return None
    ledger = analysis.ledgers[0]
    classes = sorted(ledger.api_exposure.items(), key=lambda item: -item[1].union_ns)
    classes = [(name, exposure) for name, exposure in classes if exposure.union_ns]
    if not classes:
        return None
    bounded = ledger.gpu_complete is False
    gpu = "the GPU" if not ledger.accounts["gpu.other"] else "the GPU, as far as this process goes,"
    rows = tuple(_bar(name.removeprefix("cuda."), exposure, gpu, bounded=bounded) for name, exposure in classes)
    bars = Bars(rows, classes[0][1].union_ns)
    return Figure(
        name="api_exposure",
        section="api",
        caption="CUDA calls by class: time with the GPU idle and with the GPU working",
        alt="; ".join(row.in_words for row in rows),
        draw=lambda: stacked(bars),
        bars=bars,
    )


def _bar(name: str, exposure: Exposure, gpu: str, *, bounded: bool) -> Bar:
    exposed = Segment("exposed", f"exposed: {gpu} idle meanwhile", exposure.exposed_ns, "≤ " if bounded else "")
    hidden = Segment("hidden", f"hidden: {gpu} working meanwhile", exposure.hidden_ns, "≥ " if bounded else "")
    return Bar(name, (exposed, hidden))
