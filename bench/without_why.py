"""Print the document of a trace without *why*: model, ledgers, tables, headline and notes alone.

What `analyze --json` was before it explained anything, and what the tables of other programs compare with.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def document(path: Path) -> str:
    """Return the document of the export at `path`, with null for all that explains."""
    from wallsplit.analysis import Analysis
    from wallsplit.breakdowns import tables
    from wallsplit.ledger.booking import book
    from wallsplit.ledger.gpu_use import gpu_use
    from wallsplit.ledger.windows import default_window
    from wallsplit.pipeline import examine
    from wallsplit.report import json
    from wallsplit.words.headline import headline
    from wallsplit.words.notes import notes

    examined = examine(path)
    model, window = examined.model, default_window(examined.model)
    windows = [window] if window else []
    with ThreadPoolExecutor(1) as executor:  # two cores, as in the whole analysis
        booking = executor.submit(
            lambda: tuple(ledger for activity in examined.activities for ledger in book(activity, windows))
        )
        breakdowns = tables(model, None)
    ledgers = booking.result()
    analysis = Analysis(
        path=str(path),
        size_bytes=examined.size_bytes,
        format=examined.format,
        headline=headline(ledgers, window),
        nsys_version=model.capture.nsys_version,
        schema_version=model.capture.schema_version,
        gpus=gpu_use(model.gpus, examined.activities, windows),
        processes=model.processes,
        window=window,
        window_is_explicit=False,
        ledgers=ledgers,
        tables=breakdowns,
        notes=notes(model, ledgers, window, explicit=False, asked_for_cpu=False),
        reconstructed=model.capture.note is not None,
        assumptions=model.capture.assumptions,
        not_used=model.not_used,
    )
    return json.text(json.document([analysis]))


if __name__ == "__main__":
    from wallsplit_scripts.memory import return_large_blocks

    return_large_blocks()  # as the command line does
    sys.stdout.write(document(Path(sys.argv[1])))
