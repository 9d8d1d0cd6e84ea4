"""What the command line says on stderr: one line, whatever the text in it."""

import sys

from wallsplit.text import visible


def say(text: str) -> None:
    """Print the line `wallsplit: text` to stderr, in whatever encoding it has."""
    encoding = sys.stderr.encoding or "utf-8"
    line = f"wallsplit: {visible(text)}\n"
    sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
    sys.stderr.flush()
