"""Error codes: names a person understands, each code once."""

import pytest

from wallsplit.model.error_codes import TABLE, in_words, is_final


def test_codes_are_distinct_ascending_and_have_a_meaning() -> None:
    codes = [error.code for error in TABLE]
    assert codes == sorted(set(codes))
    assert all(error.meaning and not error.meaning.endswith(".") for error in TABLE)


@pytest.mark.parametrize("code", [2, 35, 100, 101, 209, 700, 701, 702, 719, 999])
def test_the_codes_that_people_meet_have_names(code: int) -> None:
    assert in_words(code).endswith(f" (code {code})")


def test_only_errors_that_spoil_the_context_are_final() -> None:
    assert [is_final(code) for code in (2, 209, 701, 700, 719, 4242)] == [False, False, False, True, True, False]
