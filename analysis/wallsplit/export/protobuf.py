"""Protocol buffers on the wire, as far as a trace needs them: varints, 64-bit numbers, and messages within messages.

https://protobuf.dev/programming-guides/encoding/. Rows of equal layout are encoded as the rows of one array of bytes:
their varints are padded to one length, which readers accept.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
_VARINT, _FIXED64, _LENGTH = 0, 1, 2


def varint(number: int) -> bytes:
    """Return a number, 0 or above, in groups of seven bits, the lowest first."""
    groups = []
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def integer(field: int, number: int) -> bytes:
    """Return a field that holds an integer."""
    return varint(field << 3 | _VARINT) + varint(number)


def message(field: int, content: bytes) -> bytes:
    """Return a field that holds a text or another message."""
    return varint(field << 3 | _LENGTH) + varint(len(content)) + content


def text(field: int, content: str) -> bytes:
    """Return a field that holds a text; what cannot be encoded becomes a question mark."""
    return message(field, content.encode("utf-8", "replace"))


def integers(field: int, numbers: npt.NDArray[np.integer]) -> list[bytes | Bytes]:
    """Return the parts of a field of each row that holds an integer, 0 or above."""
    values = numbers.astype(np.uint64)
    width = len(varint(int(values.max(initial=0))))
    groups = values[:, None] >> (7 * np.arange(width, dtype=np.uint64))
    groups &= np.uint64(0x7F)
    groups[:, :-1] |= np.uint64(0x80)
    return [varint(field << 3 | _VARINT), groups.astype(np.uint8)]


def fixed64(field: int, numbers: npt.NDArray[np.uint64]) -> list[bytes | Bytes]:
    """Return the parts of a field of each row that holds 64 bits."""
    return [varint(field << 3 | _FIXED64), numbers.astype("<u8").view(np.uint8).reshape(-1, 8)]


def messages(field: int, parts: Sequence[bytes | Bytes]) -> list[bytes | Bytes]:
    """Return the parts of a field of each row that holds a message of these parts."""
    length = sum(len(part) if isinstance(part, bytes) else part.shape[1] for part in parts)
    return [varint(field << 3 | _LENGTH) + varint(length), *parts]


def rows(parts: Sequence[bytes | Bytes], count: int) -> Bytes:
    """Return the parts beside one another: an array of a row of bytes for each of `count` rows."""
    columns = [
        np.broadcast_to(np.frombuffer(part, np.uint8), (count, len(part))) if isinstance(part, bytes) else part
        for part in parts
    ]
    return np.concatenate(columns, axis=1)
