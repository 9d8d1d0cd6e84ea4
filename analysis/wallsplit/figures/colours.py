"""The colour of everything that figures tell apart, on a light ground."""

from wallsplit.accounts import PARTS

COLOURS = {part.key: part.light for part in PARTS} | {"hidden": "#56b4e9", "exposed": "#d55e00", "blocked": "#aedcf5"}
COLOURS |= {f"phase{number}": PARTS[part].light for number, part in enumerate((0, 2, 5, 1, 4), 1)}
"""By key: parts, hidden and exposed time, and the phases of host code, which have colours of parts: either is shown."""
