"""Text from a trace, made harmless."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallsplit import text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31m", r"\x1b[31m"),
        ("a\x00b\nc\td", r"a\x00b\x0ac\x09d"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202eevil\u2069", r"\u202eevil\u2069"),
        ("\u061c\u200e\u200f\u2028\u2029", r"\u061c\u200e\u200f\u2028\u2029"),
        ("\udcff.sqlite", r"\udcff.sqlite"),
        ("\u200b\u200c\u200d\u2060\ufeff\u00ad", r"\u200b\u200c\u200d\u2060\ufeff\xad"),
        ("\U000e0001\U000e0041\U000e007f", r"\U000e0001\U000e0041\U000e007f"),
        ("漢字 é 🙂", "漢字 é 🙂"),
    ],
)
def test_what_cannot_be_seen_is_written_out(raw: str, shown: str) -> None:
    assert text.visible(raw) == shown


@given(st.text())
def test_visible_text_stays_as_it_is_when_made_visible_again(raw: str) -> None:
    assert text.visible(text.visible(raw)) == text.visible(raw)


@given(st.text(max_size=60), st.integers(3, 50))
def test_shortened_text_keeps_both_ends_and_the_limit(raw: str, limit: int) -> None:
    short = text.shorten(raw, limit)
    assert len(short) <= limit
    assert short == raw if len(raw) <= limit else (short[0], short[-1]) == (raw[0], raw[-1])


@given(st.lists(st.from_regex("[a-z]{1,8}", fullmatch=True), min_size=8), st.sampled_from(" _-/"))
def test_shortened_text_keeps_whole_words(words: list[str], separator: str) -> None:
    left = re.split(f"[{separator}…]", text.shorten(separator.join(words), 34))
    assert set(left) <= {*words, ""}


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("run", "run"),
        ("my run (1)", "my_run_(1)"),
        ("../../etc/passwd", "etc_passwd"),
        ("a%b#c?d", "a_b_c_d"),
        ("\x1b]0;x\x07", "x1b]0;x_x07"),
        ("con", "_con"),
        ("nul.trace", "_nul.trace"),
        ("..", "trace"),
        ("", "trace"),
        ("übung", "übung"),
    ],
)
def test_a_file_stem_suits_every_file_system(name: str, stem: str) -> None:
    assert text.file_stem(name) == stem


@given(st.text(max_size=300))
def test_a_file_stem_is_short_and_holds_no_separator(name: str) -> None:
    stem = text.file_stem(name)
    assert 0 < len(stem.encode()) <= 121
    assert not set(stem) & set('/\\:*?"<>|')
    assert stem[0] not in ".-"
    assert text.visible(stem) == stem
