"""What the command line says: one line on stderr, whatever the text in it; on stdout in whatever encoding it has."""

import sys

from wallsplit.text import visible


def say(text: str) -> None:
    """Print the line `wallsplit: text` to stderr, in whatever encoding it has."""
    encoding = sys.stderr.encoding or "utf-8"
    line = f"wallsplit: {visible(text)}\n"
    sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
    sys.stderr.flush()


def tell(text: str) -> None:
    """Print the text to stdout as it is, with escapes for what its encoding lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()
