"""Amounts within a sentence: as few digits as the sentence can stand on."""

import math

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def per_cent(ratio: float) -> str:
    """Return a ratio 0–1 as per cent: `95 %`, `6.7 %`; nothing short of all becomes `100 %`: `99.9 %`."""
    percent = ratio * 100
    if percent >= 100:
        return "100 %"
    if percent >= 99:
        return f"{math.floor(percent * 10) / 10:g} %"
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.1f} %"


def between(ratios: list[float]) -> str:
    """Return what several ratios are: `85 %`, `3–8 %`."""
    low, high = f"{min(ratios) * 100:.0f}", f"{max(ratios) * 100:.0f}"
    return per_cent(max(ratios)) if low == high else f"{low}–{high} %"


def duration(ns: float) -> str:
    """Return a time given in ns with two or three digits: `7.3 s`, `781 ms`, `67 µs`."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= 0.9995 * factor:
            value = ns / factor
            return f"{value:,.1f} {unit}" if unit == "s" or value < 9.95 else f"{value:.0f} {unit}"
    return f"{ns:.0f} ns"


def how_many(count: int) -> str:
    """Return a whole number as a word where it is small: `ten`, `4,095`."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def counted(count: int, noun: str) -> str:
    """Return a number of things: `one step`, `ten launches`, `4,095 copies`; of the nouns that are used here."""
    if count == 1:
        return f"one {noun}"
    several = f"{noun[:-1]}ies" if noun.endswith("py") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{how_many(count)} {several}"


def some_of(part: int, whole: int, noun: str, of: str = "") -> str:
    """Return a number of things among others: `three of five steps`; with `of`, `three of its five steps`.

    Where they are all there are, only their number: `five steps`, `its five steps`.
    """
    all_of_them = f"{of} {counted(whole, noun)}".strip()
    return all_of_them if part == whole else f"{how_many(part)} of {all_of_them}"
