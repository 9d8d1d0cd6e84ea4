"""Promises about parameters: text becomes a typed value, or one sentence says what would have."""

from pathlib import Path

import pytest

from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Scalar
from wallsplit_workloads.workload import Parameter, Result, Workload, batch, device_of, find, resolve

WHOLE = Parameter("batch", int, 32, "", minimum=1, maximum=64)
NUMBER = Parameter("rate", float, 0.1, "", minimum=0)
TEXT = Parameter("device", str, "cpu", "", choices=("cpu", "cuda"))
FLAG = Parameter("pin", bool, False, "")
FOLDER = Parameter("data", Path, None, "")
EXAMPLE = Workload("example", "", lambda context: Result(), (WHOLE, NUMBER, TEXT, FLAG, FOLDER), device=None)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (WHOLE, "64", 64),
        (NUMBER, "1e-3", 0.001),
        (NUMBER, "2", 2.0),
        (TEXT, "cuda", "cuda"),
        (FLAG, "true", True),
        (FLAG, "No", False),
        (FLAG, "1", True),
        (FOLDER, "some/where", "some/where"),
    ],
)
def test_text_becomes_a_typed_value(parameter: Parameter, text: str, value: Scalar) -> None:
    parsed = parameter.parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("parameter", "text", "message"),
    [
        (WHOLE, "0", "batch=0: less than 1"),
        (WHOLE, "65", "batch=65: more than 64"),
        (WHOLE, "3.5", "batch=3.5: not a whole number"),
        (WHOLE, "", "batch=: not a whole number"),
        (NUMBER, "nan", "rate=nan: less than 0"),
        (NUMBER, "fast", "rate=fast: not a number"),
        (TEXT, "cudo", "device=cudo: not one of cpu, cuda (did you mean 'cuda'?)"),
        (FLAG, "maybe", "pin=maybe: neither true nor false"),
    ],
)
def test_an_impossible_value_is_refused_in_one_sentence(parameter: Parameter, text: str, message: str) -> None:
    with pytest.raises(WallsplitError) as caught:
        parameter.parse(text)
    assert str(caught.value) == message


def test_values_not_given_are_the_defaults_in_the_order_of_the_workload() -> None:
    values = resolve(EXAMPLE, {"rate": "1"})
    assert list(values.items()) == [("batch", 32), ("rate", 1.0), ("device", "cpu"), ("pin", False), ("data", None)]


def test_an_unknown_parameter_is_answered_with_the_nearest_and_all() -> None:
    with pytest.raises(WallsplitError, match=r"no parameter 'bacth' \(did you mean 'batch'\?\); it takes batch, rate"):
        resolve(EXAMPLE, {"bacth": "1"})


def test_an_unknown_workload_is_answered_with_the_nearest_and_all() -> None:
    other = Workload("other", "", lambda context: Result(), (batch(),))
    assert find((EXAMPLE, other), "other") is other
    with pytest.raises(
        WallsplitError, match=r"no workload 'exmaple' \(did you mean 'example'\?\); there are example, o"
    ):
        find((EXAMPLE, other), "exmaple")
    with pytest.raises(WallsplitError, match="no workload 'zzz'; there are example, other"):
        find((EXAMPLE, other), "zzz")


def test_the_device_is_the_workloads_or_else_its_parameters() -> None:
    assert device_of(EXAMPLE, {"device": "cuda"}) == "gpu"
    assert device_of(EXAMPLE, {"device": "cpu"}) == "cpu"
    assert device_of(Workload("w", "", lambda context: Result(), (), device="gpu"), {}) == "gpu"
