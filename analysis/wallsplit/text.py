"""Text out of a trace is hostile: made visible, short and inert before a person or a spreadsheet sees it."""

import re
from collections.abc import Iterator
from pathlib import PurePath

LIMIT = 200
"""Names longer than this many characters are shortened for people."""
PROSE = 2_000
"""Sentences longer than this many characters are."""

# C0, DEL and C1; soft hyphen; Arabic letter mark; zero-width spaces and joiners, left/right marks; line and paragraph
# separators, bidi embeddings; invisible operators, bidi isolates, deprecated format characters; byte order mark; lone
# surrogates, which is how Python shows undecodable bytes of a file name; tags and supplementary variation selectors.
# Unicode TR9 and TR36.
_SURROGATES = "\ud800-\udfff"
_OTHERS = "\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff"
_UNSEEN = re.compile(f"[{_OTHERS}{_SURROGATES}]")
UNSEEN = f"[{_OTHERS}]"
"""Matches what `visible` writes out, in texts that are UTF-8."""
_WORD_EDGE = re.compile(r"(?<=[^\W_])(?=[\W_])|(?<=[\W_])(?=[^\W_])")
_NOT_IN_A_FILE_NAME = re.compile(r'[<>:"/\\|?*%#\s]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)  # device names on Windows
SPREADSHEET_FORMULA = r"(^|;)(\s*[=+\-@\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}\u{fe66}\u{fe62}\u{fe63}\u{fe6b}])"
"""Where a cell, of visible text, would be run by spreadsheets: from its start on, or from a semicolon on, which many of
them take for the end of a cell; full-width and small signs are signs, too. An apostrophe between the two groups
prevents it. Rust's syntax, for whole columns."""


def visible(text: str) -> str:
    r"""Return the text with control, bidi and invisible characters written out, `\x1b` or `\u202e`; else unchanged."""
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


def lines_of(text: str, width: int) -> Iterator[str]:
    """Give the text in lines of so many characters at most, cut between words where there is a word's end."""
    while len(text) > width:
        line = whole_words(text, width)
        yield line
        text = text[len(line) :].lstrip()
    yield text


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
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
