"""Numbers as people read them. Everything before this edge is an integer in ns or bytes, or a ratio 0–1."""

import math
from collections.abc import Sequence
from decimal import Decimal


def ns(value: float) -> str:
    """Return a time given in ns with the unit that suits it: `3.361 s`, `12.4 ms`, `578 ns`."""
    size = abs(value)
    if size < 999.5:
        return f"{value:.0f} ns"
    for factor, unit in ((1e3, "µs"), (1e6, "ms")):
        if size < 999.5 * factor:
            return f"{_three_digits(value / factor)} {unit}"
    return f"{value / 1e9:.3f} s" if size < 99.9995e9 else f"{value / 1e9:,.1f} s"


def signed_ns(value: float) -> str:
    """Return a change of a time given in ns, with its sign: `+1.15 ms`, `−578 ns`, `±0`."""
    return _signed(value, ns(abs(value)))


def signed_ratio(value: float) -> str:
    """Return a change as a ratio in per cent, with its sign: `+13.1 %`, `−0.2 %`, `±0`."""
    return _signed(value, ratio(abs(value)))


def size(value: float) -> str:
    """Return a number of bytes in decimal units: `812 B`, `1.05 MB`, `94.5 GB`."""
    if abs(value) < 999.5:
        return f"{value:.0f} B"
    for factor, unit in ((1e3, "kB"), (1e6, "MB"), (1e9, "GB")):
        if abs(value) < 999.5 * factor:
            return f"{_three_digits(value / factor)} {unit}"
    return f"{_three_digits(value / 1e12)} TB"


def count(value: int) -> str:
    """Return a whole number with its thousands set apart: `1,875`."""
    return f"{value:,}"


def mean_count(value: float) -> str:
    """Return how often something is on average, to three digits or whole: `0.97`, `53.1`, `1,875`, `0`."""
    return _three_digits(value).removesuffix(".00") if abs(value) < 99.95 else f"{value:,.0f}"


def ratio(value: float) -> str:
    """Return a ratio 0–1 as per cent: `51.6 %`."""
    return f"{value * 100:.1f} %"


def fine_ratio(value: float) -> str:
    """Return a ratio 0–1 as per cent with two digits where it is small: `51.6 %`, `0.031 %`, `0.0000012 %`."""
    percent = abs(value) * 100
    decimals = 1 if percent == 0 else max(1, 1 - math.floor(math.log10(percent)))
    return f"{value * 100:,.{decimals}f} %"


def flops(value: float) -> str:
    """Return a number of floating-point operations: `812 FLOP`, `6.42 MFLOP`, `22.0 GFLOP`, `11.1 TFLOP`."""
    if abs(value) < 999.5:
        return f"{value:.0f} FLOP"
    for factor, unit in ((1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")):
        if abs(value) < 999.5 * factor:
            return f"{_three_digits(value / factor)} {unit}FLOP"
    return f"{_three_digits(value / 1e15)} PFLOP" if abs(value) < 999.5e15 else f"{value:.3g} FLOP"


def apportion(parts: Sequence[int], units: int) -> list[int]:
    """Return whole numbers in the proportions of `parts` that add up to exactly `units`.

    Largest remainders (Hamilton's method): round down, then give what is left to the largest remainders, the earlier
    part first. All zero where the parts are.
    """
    total = sum(parts)
    if total == 0:
        return [0] * len(parts)
    shares = [divmod(part * units, total) for part in parts]
    left = units - sum(whole for whole, _ in shares)
    lucky = set(sorted(range(len(parts)), key=lambda i: (-shares[i][1], i))[:left])
    return [whole + (i in lucky) for i, (whole, _) in enumerate(shares)]


def largest_remainders(parts: Sequence[int], total: int, decimals: int = 1) -> list[Decimal]:
    """Return the per cent of `total` that each part is, rounded so that printed parts add up.

    Parts that sum to `total` give exactly 100.0. Parts that leave some of it out give their own sum's per cent.
    """
    units = _rounded(sum(parts) * 10 ** (2 + decimals), total)
    return [percent(part, decimals) for part in apportion(parts, units)]


def percent(units: int, decimals: int = 1) -> Decimal:
    """Return a number of 10**-decimals per cent as an exact decimal: 516 → 51.6."""
    return Decimal(units).scaleb(-decimals)


def _rounded(numerator: int, denominator: int) -> int:
    return 0 if denominator == 0 else (2 * numerator + denominator) // (2 * denominator)


def _signed(value: float, size: str) -> str:
    if not any("1" <= digit <= "9" for digit in size):
        return "±0"
    return f"{'+' if value > 0 else '−'}{size}"


def _three_digits(value: float) -> str:
    magnitude = abs(value)
    return f"{value:.{2 if magnitude < 9.995 else 1 if magnitude < 99.95 else 0}f}"
