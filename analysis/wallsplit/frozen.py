"""Frozen dataclasses whose classes are made in a fifth of the time.

`dataclasses.dataclass` compiles six methods for each class, two of them only to refuse assignment: 0.6 ms a class in
Python 3.11, and 180 classes are met before the first row of a trace is read. Here only `__init__` is compiled, since it
runs often; the other methods are closures over the names of the fields.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from dataclasses import dataclass as standard
from typing import TYPE_CHECKING, Any, Literal, NoReturn

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: Literal[True], eq: bool = True, repr: bool = True) -> Callable[[type], type]:  # noqa: A002
        """Return what makes a class what `dataclasses.dataclass` makes of it with these arguments.

        Every field is an argument of `__init__`, in order. `fields`, `replace`, `asdict` and the like know the class.
        """

        def make(cls: type) -> type:
            own_repr = "__repr__" in vars(cls)
            cls.__doc__ = cls.__doc__ or cls.__name__  # without one, a signature would be worked out for it
            standard(init=False, eq=False, repr=False)(cls)
            fields = list(cls.__dataclass_fields__.values())
            cls.__init__ = _init(fields)
            cls.__setattr__ = _refuse_value
            cls.__delattr__ = _refuse
            if repr and not own_repr:
                cls.__repr__ = _repr(tuple(field.name for field in fields if field.repr))
            if eq:
                cls.__eq__, cls.__hash__ = _eq_and_hash(tuple(field.name for field in fields if field.compare))
            return cls

        return make


def _init(fields: list[Field[Any]]) -> Callable[..., None]:
    """Return an `__init__` that takes the fields, and fills in those with a default."""
    known: dict[str, Any] = {}
    arguments, lines = ["self"], ["__dict__ = self.__dict__"]  # a name that no field has
    for field in fields:
        name, default, factory, value = field.name, f"__{field.name}_default__", f"__{field.name}_factory__", field.name
        if field.default is not MISSING:
            known[default] = field.default
        elif field.default_factory is not MISSING:
            known |= {default: MISSING, factory: field.default_factory}
            value = f"{factory}() if {name} is {default} else {name}"
        arguments.append(f"{name}={default}" if default in known else name)
        lines.append(f"__dict__[{name!r}] = {value}")
    made: dict[str, Any] = {}
    exec(f"def __init__({', '.join(arguments)}):\n " + "\n ".join(lines), known, made)  # noqa: S102  names of our own
    init: Callable[..., None] = made["__init__"]
    init.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return init


def _refuse(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")


def _refuse_value(self: object, name: str, value: object) -> NoReturn:
    _refuse(self, name)


def _repr(names: tuple[str, ...]) -> Callable[[object], str]:
    def shown(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return shown


def _eq_and_hash(names: tuple[str, ...]) -> tuple[Callable[[object, object], bool], Callable[[object], int]]:
    def values(of: object) -> tuple[object, ...]:
        return tuple([getattr(of, name) for name in names])

    def are_equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    return are_equal, hashed
