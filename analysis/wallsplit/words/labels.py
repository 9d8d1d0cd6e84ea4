"""What people call a ledger."""

from wallsplit import units
from wallsplit.analysis import Analysis
from wallsplit.ledger.ledger import Ledger


def ledger_label(analysis: Analysis, ledger: Ledger) -> str:
    """Return the ledger's name within its analysis: `GPU 0`, `GPU 1, process 4711`, `process 12, at 1.200 s`.

    GPUs go by their physical numbers.
    """
    same_gpu = [x for x in analysis.ledgers if x.gpu == ledger.gpu and _window(x) == _window(ledger)]
    if ledger.gpu is None:
        label = f"process {ledger.pid}"
    elif len(same_gpu) > 1:
        label = f"GPU {ledger.gpu}, process {ledger.pid}"
    else:
        label = f"GPU {ledger.gpu}"
    return f"{label}, at {units.ns(ledger.window.start_ns)}" if ledger.window else label


def _window(ledger: Ledger) -> tuple[int, int] | None:
    return (ledger.window.start_ns, ledger.window.end_ns) if ledger.window else None
