"""Messages are lines for people, whatever a file makes of them."""

import pickle

from wallsplit.errors import TraceError
from wallsplit.text import PROSE


def test_a_message_has_its_beginning_its_advice_and_a_bound() -> None:
    message = str(TraceError(f"t.sqlite: is broken ({'x' * 10**6}); export the report again"))
    assert message.startswith("t.sqlite: is broken (x")
    assert message.endswith("x); export the report again")
    assert len(message) == PROSE


def test_an_error_survives_the_way_to_another_process() -> None:
    assert str(pickle.loads(pickle.dumps(TraceError("t.sqlite: is broken")))) == "t.sqlite: is broken"
