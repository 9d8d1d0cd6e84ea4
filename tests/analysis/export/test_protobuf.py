"""The wire format of protocol buffers, against its specification's examples and their own reader."""

import numpy as np
import pytest

from wallsplit.export.protobuf import fixed64, integer, integers, message, messages, rows, text, varint


@pytest.mark.parametrize(("number", "encoded"), [(0, "00"), (1, "01"), (150, "9601"), (2**63, "80808080808080808001")])
def test_a_varint_is_groups_of_seven_bits(number: int, encoded: str) -> None:
    assert varint(number).hex() == encoded


def test_fields_are_tag_and_value() -> None:
    assert integer(1, 150).hex() == "089601"
    assert text(2, "testing").hex() == "120774657374696e67"
    assert message(3, integer(1, 150)).hex() == "1a03089601"


def test_a_text_that_cannot_be_encoded_is_still_one() -> None:
    assert text(2, "a\udc80") == b"\x12\x02a?"


def test_rows_of_one_layout_are_read_as_their_numbers() -> None:
    reader = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    times, flows = np.array([0, 1, 300, 2**62]), np.array([1, 2, 3, 2**64 - 1], np.uint64)
    event = [integer(9, 1), *integers(10, np.array([1, 2, 3, 500])), *fixed64(47, flows)]
    content = rows(messages(1, [*integers(8, times), *messages(11, event)]), 4).tobytes()
    trace = reader.Trace()
    trace.ParseFromString(content)
    assert [packet.timestamp for packet in trace.packet] == times.tolist()
    assert [packet.track_event.name_iid for packet in trace.packet] == [1, 2, 3, 500]
    assert [list(packet.track_event.flow_ids) for packet in trace.packet] == [[n] for n in flows.tolist()]
