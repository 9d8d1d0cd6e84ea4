"""What the command line says: one line on stderr, whatever the text in it; on stdout in whatever encoding it has."""

import sys
from contextlib import suppress

from wallsplit.text import shorten, visible

LIMIT = 2_000  # characters of a message: more is no message, and a broken schema can be quoted at any length
ELSEWHERE = "--report-dir DIR writes reports elsewhere, --no-report none"


def say(text: str) -> None:
    """Print the line `wallsplit: text` to stderr, in whatever encoding it has."""
    encoding = sys.stderr.encoding or "utf-8"
    line = f"wallsplit: {shorten(visible(text), LIMIT)}\n"
    with suppress(OSError):  # nobody listens any more, and nobody is left to be told so
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()


def tell(text: str) -> None:
    """Print the text to stdout as it is, with escapes for what its encoding lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()
