"""Parquet and Arrow files with their text columns declared as bytes: contents and offsets stay as they are.

One text that is not UTF-8 makes Polars refuse its whole column, and nsys puts whatever the profiled program called its
threads, and all of its environment, into one column (StringIds.value). Declared as bytes the same column is readable.
"""

import struct

_UTF8_CONVERTED = b"\x25\x00"  # SchemaElement field 6, an i32: ConvertedType.UTF8
_BSON_CONVERTED = b"\x25\x0e"
_STRING_LOGICAL = b"\x4c\x1c\x00\x00\x00"  # field 10, a union: LogicalType.STRING (1); ends union and element
_BSON_LOGICAL = b"\x4c\xdc\x00\x00\x00"

_ARROW_TYPES = {5: 4, 20: 19}  # Schema.fbs, union Type: Utf8 to Binary, LargeUtf8 to LargeBinary
_MESSAGE_HEADER, _SCHEMA_FIELDS, _FIELD_TYPE = 2, 1, 2  # slots in the tables of Message.fbs and Schema.fbs


def untyped_parquet(file: bytes) -> bytes:
    """Return a Parquet file whose texts are BSON, which readers take as bytes.

    The footer is Thrift's compact protocol (https://parquet.apache.org/docs/file-format/metadata/); parquet-cpp, which
    nsys uses, writes both the old and the new annotation, side by side. Any other layout is returned unchanged.
    """
    if len(file) < 8:
        return file
    length = int.from_bytes(file[-8:-4], "little")
    start = max(0, len(file) - 8 - length)
    footer = file[start:].replace(_UTF8_CONVERTED + _STRING_LOGICAL, _BSON_CONVERTED + _BSON_LOGICAL)
    return file[:start] + footer


def untyped_arrow(file: bytes) -> bytes:
    """Return an Arrow stream whose schema says binary where it said text.

    The schema is the first message of a stream (https://arrow.apache.org/docs/format/Columnar.html), a FlatBuffer.
    A file that does not parse is returned unchanged.
    """
    changed = bytearray(file)
    try:
        for place in _field_types(file):
            changed[place] = _ARROW_TYPES.get(file[place], file[place])
    except (struct.error, IndexError):
        return file
    return bytes(changed)


def _field_types(file: bytes) -> list[int]:
    """Return where the type of each top-level column stands."""
    message = _followed(file, 8)  # after the continuation marker and the length of the metadata
    header = _slot(file, message, _MESSAGE_HEADER)
    fields = _slot(file, _followed(file, header), _SCHEMA_FIELDS) if header else 0
    if not fields:
        return []
    vector = _followed(file, fields)
    count = struct.unpack_from("<I", file, vector)[0]
    tables = [_followed(file, vector + 4 + 4 * i) for i in range(min(count, len(file) // 4))]
    return [place for table in tables if (place := _slot(file, table, _FIELD_TYPE))]


def _followed(file: bytes, place: int) -> int:
    """Return what the offset at `place` points to; FlatBuffers count from the offset itself."""
    return place + int(struct.unpack_from("<I", file, place)[0])


def _slot(file: bytes, table: int, slot: int) -> int:
    """Return where a table keeps one of its values, 0 if it has none (FlatBuffers' vtable)."""
    vtable = table - struct.unpack_from("<i", file, table)[0]
    if 4 + 2 * slot >= struct.unpack_from("<H", file, vtable)[0]:
        return 0
    offset = int(struct.unpack_from("<H", file, vtable + 4 + 2 * slot)[0])
    return table + offset if offset else 0
