"""Our frozen dataclasses against those of the standard library, which they stand in for."""

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any

import pytest

from wallsplit.frozen import dataclass


@dataclass(frozen=True)
class Ours:
    """A value."""

    name: str
    values: tuple[int, ...] = (1, 2)
    rows: list[int] = field(default_factory=list, compare=False, repr=False)


@dataclasses.dataclass(frozen=True)
class Standard:
    """A value."""

    name: str
    values: tuple[int, ...] = (1, 2)
    rows: list[int] = field(default_factory=list, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Single:
    fields: Any


@dataclass(frozen=True, repr=False)
class Named:
    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


@pytest.mark.parametrize("arguments", [("a",), ("a", (3,)), ("a", (), [4])])
def test_a_value_is_made_shown_and_told_as_the_standard_one(arguments: tuple[Any, ...]) -> None:
    ours, standard = Ours(*arguments), Standard(*arguments)
    assert repr(ours) == repr(standard).replace("Standard", "Ours")
    assert asdict(ours) == asdict(standard)
    assert [(f.name, f.type) for f in fields(ours)] == [(f.name, f.type) for f in fields(standard)]
    assert hash(ours) == hash(standard)
    assert Ours.__init__.__annotations__ == Standard.__init__.__annotations__
    assert Ours.__match_args__ == Standard.__match_args__


def test_values_are_equal_where_their_compared_fields_are() -> None:
    assert Ours("a", (1,), [1]) == Ours(name="a", values=(1,), rows=[2])
    assert Ours("a") != Ours("b")
    assert Ours("a").__eq__(Standard("a")) is NotImplemented
    assert len({Ours("a"), Ours("a"), Ours("b")}) == 2


def test_without_eq_a_value_is_equal_to_itself_alone() -> None:
    one = Single([1])
    assert one == one
    assert one != Single([1])
    assert len({one, Single([1])}) == 2


def test_no_field_can_be_changed_or_deleted() -> None:
    one = Ours("a")
    with pytest.raises(FrozenInstanceError):
        one.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        one.other = "b"  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        del one.name
    assert one == Ours("a")


def test_a_default_that_is_made_is_made_for_each_value() -> None:
    assert Ours("a").rows is not Ours("a").rows


@pytest.mark.parametrize("arguments", [{}, {"name": "a", "nmae": "b"}])
def test_an_argument_too_few_or_unknown_is_a_type_error(arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Ours(**arguments)


def test_values_are_replaced_copied_and_pickled() -> None:
    one = Ours("a", (3,), [4])
    assert replace(one, name="b") == Ours("b", (3,))
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (other, other.rows) == (one, [4])


def test_a_repr_of_its_own_is_kept() -> None:
    assert repr(Named("a")) == "<a>"
