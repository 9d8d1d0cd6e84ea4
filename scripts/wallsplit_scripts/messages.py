"""What the command line says on stderr: one line, whatever the text in it."""

import sys
import unicodedata

_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, bidi and other format characters, surrogates, line separators


def one_line(text: str) -> str:
    """The text with everything that could move a cursor, hide or break the line shown as its escape, like `\\x1b`."""
    return "".join(_escape(char) if unicodedata.category(char) in _UNSAFE else char for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode()


def say(text: str) -> None:
    """Print the line `wallsplit: text` to stderr, in whatever encoding it has."""
    encoding = sys.stderr.encoding or "utf-8"
    line = f"wallsplit: {one_line(text)}\n"
    sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
    sys.stderr.flush()
