"""Outside JSON made into frozen dataclasses: the annotations are the whole description of what is accepted."""

import dataclasses
import math
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

_INT64 = range(-(2**63), 2**63)
_DEPTH_LIMIT = 32  # of free-form JSON; whoever walks it later may recurse
_ITEM_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", types.NoneType: "null"}


class DecodeError(ValueError):
    """A value is not what its place asks for; says which place."""


def decode(kind: Any, value: object, place: str = "") -> Any:
    """Return the value as `kind`: dataclass, Mapping or dict of str, tuple[X, ...], Literal, union, scalar, `object`.

    `object` is any JSON. Keys a dataclass does not know are left out; a missing key takes the field's default, or None
    where the field may be None.

    Raises:
        DecodeError: the value, or one inside it, is of another type.
    """
    origin = get_origin(kind)
    if kind is object:
        return _decode_json(value, place)
    if origin in (Union, types.UnionType):
        return _decode_union(get_args(kind), value, place)
    if origin is Literal:
        if value in get_args(kind) and type(value) in {type(choice) for choice in get_args(kind)}:
            return value
        raise _wrong(place, value, " or ".join(repr(choice) for choice in get_args(kind)))
    if origin is tuple:
        item = get_args(kind)[0]
        return tuple(decode(item, v, f"{place}[{i}]") for i, v in enumerate(_instance(list, "a list", value, place)))
    if origin in (Mapping, dict):
        item = get_args(kind)[1]
        return {k: decode(item, v, _join(place, k)) for k, v in _instance(dict, "an object", value, place).items()}
    if dataclasses.is_dataclass(kind):
        return decode_record(kind, value, place)
    return _decode_scalar(kind, value, place)


def decode_record(kind: Any, value: object, place: str = "", known: Mapping[str, object] | None = None) -> Any:
    """Return the value as the dataclass `kind`, but for the fields that are `known` already.

    Raises:
        DecodeError: as for decode().
    """
    record = _instance(dict, "an object", value, place)
    hints = get_type_hints(kind)
    fields = dict(known or {})
    for field in dataclasses.fields(kind):
        if field.name in fields:
            continue
        if field.name in record:
            fields[field.name] = decode(hints[field.name], record[field.name], _join(place, field.name))
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            if types.NoneType not in get_args(hints[field.name]):
                raise DecodeError(f"{_join(place, field.name)} is missing")
            fields[field.name] = None
    return kind(**fields)


def encode(value: object) -> Json:
    """Return the value as what `json` writes: dataclasses as objects in field order, NaN and infinities as null.

    A field of a dataclass that is None, or becomes null, is left out: a manifest may hold 20,000 epochs of one number.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {name: item for name, item in fields.items() if item is not None}
    if isinstance(value, Mapping):
        return {str(k): encode(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [encode(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"no JSON for {type(value).__name__}")


def _decode_union(kinds: tuple[Any, ...], value: object, place: str) -> Any:
    if value is None and types.NoneType in kinds:
        return None
    kinds = tuple(kind for kind in kinds if kind is not types.NoneType)
    if len(kinds) == 1:  # "X or null": the message is about X
        return decode(kinds[0], value, place)
    for kind in kinds:
        try:
            return decode(kind, value, place)
        except DecodeError:
            continue
    raise _wrong(place, value, " or ".join(_ITEM_NAMES.get(kind, str(kind)) for kind in kinds))


def _decode_scalar(kind: Any, value: object, place: str) -> Any:
    if type(value) is int and value not in _INT64:
        raise _wrong(place, value, "a whole number of at most 64 bits")
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (type(value) is float and not math.isfinite(value)):
        raise _wrong(place, value, _ITEM_NAMES[kind])
    return value


def _decode_json(value: object, place: str, depth: int = 0) -> object:
    if depth > _DEPTH_LIMIT:
        raise DecodeError(f"{place} is nested more than {_DEPTH_LIMIT} deep")
    if isinstance(value, list):
        return [_decode_json(item, place, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key: _decode_json(item, place, depth + 1) for key, item in value.items()}
    return value if value is None else _decode_scalar(type(value), value, place)


def _instance(kind: type, called: str, value: object, place: str) -> Any:
    if not isinstance(value, kind):
        raise _wrong(place, value, called)
    return value


def _wrong(place: str, value: object, wanted: str) -> DecodeError:
    shown = repr(value)
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    return DecodeError(f"{place or 'the document'} is {shown}, not {wanted}")


def _join(place: str, key: str) -> str:
    key = key if key.isprintable() and len(key) <= 40 else ascii(key[:40])
    return f"{place}.{key}" if place else key
