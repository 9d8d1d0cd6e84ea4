"""Equal byte strings get equal codes, different ones different codes, whatever the hash says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit.trace import interning
from wallsplit.trace.cells import varints
from wallsplit.trace.interning import PADDING, Interner

STRINGS = st.lists(
    st.binary(max_size=20) | st.sampled_from([b"", b"\0", b"\0" * 8, b"a" * 1_007, b"a" * 1_009, b"b" * 3_000])
)


def codes_of(interner: Interner, strings: list[bytes]) -> list[int]:
    buffer = np.frombuffer(b"".join(strings) + b"\xaa" * PADDING, np.uint8)
    length = np.array([len(string) for string in strings], np.int64)
    codes: list[int] = interner.codes(buffer, np.cumsum(length) - length, length).tolist()
    return codes


@given(st.lists(STRINGS, max_size=3))
def test_a_code_is_the_place_of_its_string(batches: list[list[bytes]]) -> None:
    interner = Interner()
    for strings in batches:
        assert [interner.texts[code] for code in codes_of(interner, strings)] == strings
    assert sorted(interner.texts) == sorted({string for strings in batches for string in strings})


def test_codes_stay_when_the_tables_grow() -> None:
    interner = Interner()
    first = [b"%d" % number for number in range(100)]
    before = codes_of(interner, first)
    codes_of(interner, [b"%d" % number for number in range(50_000)])
    assert codes_of(interner, first) == before
    assert len(interner.texts) == 50_000


def test_strings_whose_hashes_all_collide_keep_codes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interning._Table, "_hashes", lambda _, records: np.zeros(len(records), np.uint64))
    interner = Interner()
    for strings in ([b"%d" % (number % 200) for number in range(500)], [b"%d" % number for number in range(300)]):
        assert [interner.texts[code] for code in codes_of(interner, strings)] == strings
    assert len(interner.texts) == 300


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_variable_length_integers_read_back(values: list[int]) -> None:
    encoded = [varint(value) for value in values]
    buffer = np.frombuffer(b"".join(encoded) + bytes(9), np.uint8)
    ends = np.cumsum([len(each) for each in encoded])
    read, behind = varints(buffer, ends - [len(each) for each in encoded])
    assert read.tolist() == values
    assert behind.tolist() == ends.tolist()


def varint(value: int) -> bytes:
    """Return the number, 7 bits a byte from the top, the high bit set on all but the last; the ninth byte holds 8."""
    value %= 2**64
    if value >= 2**56:
        return bytes(128 | (value >> 8 + 7 * place) & 127 for place in range(7, -1, -1)) + bytes([value & 255])
    groups = [value & 127]
    while value := value >> 7:
        groups.append(128 | value & 127)
    return bytes(reversed(groups))


@pytest.mark.parametrize("length", range(1_000, 1_050))
def test_strings_of_about_a_thousand_bytes_differ_by_their_last(length: int) -> None:
    strings = [b"x" * (length - 1) + last for last in (b"a", b"b", b"a")]
    interner = Interner()
    assert [interner.texts[code] for code in codes_of(interner, strings)] == strings
    assert len(interner.texts) == 2
