"""Text out of a trace is hostile: made visible, short and inert before a person or a spreadsheet sees it."""

import re
from pathlib import PurePath

LIMIT = 200
"""Names longer than this many characters are shortened for people."""
PROSE = 2_000
"""Sentences longer than this many characters are."""

# C0, DEL and C1; Arabic letter mark, left/right marks, line and paragraph separators, bidi embeddings and isolates
# (Unicode TR9); lone surrogates, which is how Python shows undecodable bytes of a file name.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_WORD_EDGE = re.compile(r"(?<=[^\W_])(?=[\W_])|(?<=[\W_])(?=[^\W_])")
_NOT_IN_A_FILE_NAME = re.compile(r'[<>:"/\\|?*%#\s]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)  # device names on Windows
SPREADSHEET_FORMULA = r"^[=+\-@\t\r]"
"""A cell that matches is run by spreadsheets; a leading apostrophe prevents it."""


def visible(text: str) -> str:
    r"""Return the text with control and bidi characters written out, `\x1b` or `\u202e`; other text unchanged."""
    return _UNSEEN.sub(_written_out, text)


def shorten(text: str, limit: int = LIMIT) -> str:
    """Return the text with its middle replaced by an ellipsis where it is longer than `limit` characters.

    What is left are whole words, unless they are long ones.
    """
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{whole_words(text, limit - 1 - tail)}…{whole_words(text[::-1], tail)[::-1]}"


def whole_words(text: str, room: int) -> str:
    """Return what of the text's beginning fits into `room` characters without cutting a word.

    A word is cut where less than half of the room would be used.
    """
    if len(text) <= room:
        return text
    ends = [edge.start() for edge in _WORD_EDGE.finditer(text[: room + 1])]
    return text[: ends[-1] if ends and ends[-1] > room // 2 else room]


def for_people(text: str, limit: int = LIMIT) -> str:
    """Return the text visible, then shortened."""
    return shorten(visible(text), limit)


def file_name(path: str) -> str:
    """Return the last component of a path, all that a report shows of it."""
    return for_people(PurePath(path).name or path)


def file_stem(name: str) -> str:
    """Return a name for a report's files that every file system takes, at most 120 bytes; never empty."""
    stem = _NOT_IN_A_FILE_NAME.sub("_", visible(name).replace("\\", "_")).strip("._- ")
    stem = stem.encode()[:120].decode(errors="ignore").rstrip("._- ") or "trace"
    return f"_{stem}" if _RESERVED.match(stem) else stem


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
