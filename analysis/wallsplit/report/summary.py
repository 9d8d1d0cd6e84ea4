"""A summary to share: a few lines of Markdown that stand alone, in a pull request or a job's own page."""

from collections.abc import Iterator, Sequence

from wallsplit import __version__, units
from wallsplit.accounts import PARTS
from wallsplit.analysis import Analysis
from wallsplit.ledger.ledger import Ledger
from wallsplit.report.first_screen import FirstScreen, context, first_screen
from wallsplit.report.markdown import cards, escape, todo
from wallsplit.text import file_name
from wallsplit.words.all_notes import BANNER
from wallsplit.words.headline import Share, of_gpus, shares

LINES = 15
BYTES = 4_000
_BAR = 60
_GLYPHS = {part.key: part.glyph for part in PARTS}


def summary(analysis: Analysis) -> str:
    """Return the summary of an analysis."""
    return summary_of(analysis, first_screen(analysis))


def summary_of(analysis: Analysis, first: FirstScreen) -> str:
    """Return at most LINES lines, BYTES bytes, of Markdown: verdict, proof of the ledger, bar, cards, what to do."""
    generator = f"wallsplit {__version__}"
    head = " · ".join(part for part in (file_name(analysis.path), context(analysis), generator) if part)
    lines = [
        f"**{escape(first.verdict)}**",
        f"{escape(head)}. {f'{BANNER} ' if analysis.reconstructed else ''}{escape(first.seconds)}",
        "",
        *_bar(analysis),
        "",
        *list(cards(first.cards))[:3],
        "",
        *(todo(first.advice) if first.advice else ()),
    ]
    return "\n".join(_short(lines[:LINES])).rstrip() + "\n"


def _short(lines: list[str]) -> Iterator[str]:
    """Give the lines as long as there are bytes for them."""
    left = BYTES
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            return
        yield line


def _bar(analysis: Analysis) -> Iterator[str]:
    ledgers = of_gpus(analysis.ledgers) or analysis.ledgers
    parts = [share for share in shares(ledgers) if share.time_ns]
    cells = units.apportion([share.time_ns for share in parts], _BAR)
    if parts:
        yield f"`{''.join(_GLYPHS[share.part.key] * n for share, n in zip(parts, cells, strict=True))}`"
        device = any(ledger.device is not None for ledger in ledgers)
        titles = [share.part.title if device else share.part.without_device or share.part.title for share in parts]
        yield " · ".join(
            f"`{_GLYPHS[share.part.key]}` {escape(title)} {_bound(ledgers, share)}{share.percent} %"
            for share, title in zip(parts, titles, strict=True)
        )


def _bound(ledgers: Sequence[Ledger], share: Share) -> str:
    """Return what stands before a share where GPU work is missing in the trace."""
    if all(ledger.gpu_complete is not False or ledger.device is None for ledger in ledgers):
        return ""
    return "≥ " if share.part.on_gpu else "≤ "
