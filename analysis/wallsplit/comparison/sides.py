"""The sides of a comparison: a label and the traces of it, repeats of one program."""

import glob
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from wallsplit.accounts import ACCOUNTS
from wallsplit.comparison.repeats import Repeat, Total, Totals
from wallsplit.errors import ComparisonError
from wallsplit.frozen import dataclass

_WILD = frozenset("*?[")


@dataclass(frozen=True, eq=False)
class Side:
    """Repeats of one program, as their mean. Times are exact fractions of ns per unit."""

    label: str
    repeats: tuple[Repeat, ...]

    @cached_property
    def wall(self) -> Fraction:
        """Wall time of a unit."""
        return _mean([repeat.wall for repeat in self.repeats])

    @cached_property
    def accounts(self) -> dict[str, Fraction | None]:
        """The accounts, in order: None where no repeat measured one, 0 for a repeat that did not."""
        return {
            account: None if all(time is None for time in times) else _mean([time or Fraction(0) for time in times])
            for account in ACCOUNTS
            if (times := [repeat.accounts[account] for repeat in self.repeats])
        }

    @property
    def gpu_complete(self) -> bool:
        """Whether no repeat lacks GPU work."""
        return all(repeat.gpu_complete for repeat in self.repeats)

    def totals(self, kind: str) -> Totals:
        """Return what the rows of a kind take, by name: the mean over the repeats, 0 for one without the name."""
        result: Totals = {}
        for repeat in self.repeats:
            for name, total in repeat.totals[kind].items():
                result[name] = result.get(name, Total()) + total / len(self.repeats)
        return result


def named_paths(arguments: Sequence[str]) -> dict[str, tuple[Path, ...]]:
    """Return the traces of each side by its label, in order, from arguments `TRACE` and `LABEL=TRACE`.

    A label given again adds repeats. A path with `*`, `?` or `[` that is no file stands for the files it matches. What
    has no label is a side of its own: its file's stem, with its folder before it where several have that.

    Raises:
        ComparisonError: there are fewer than two sides, or a pattern matches nothing.
    """
    labelled = [_split(argument) for argument in arguments]
    stems = Counter(Path(path).stem for label, path in labelled if label is None)
    result: dict[str, tuple[Path, ...]] = {}
    for label, path in labelled:
        named = label or _label(Path(path), result, is_shared=stems[Path(path).stem] > 1)
        result[named] = (*result.get(named, ()), *files_of(path))
    if len(result) < 2:
        raise ComparisonError(
            f"one side, {', '.join(result)}: a comparison needs two; name them, as in before=a.sqlite after=b.sqlite"
        )
    return result


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _split(argument: str) -> tuple[str | None, str]:
    label, _, path = argument.partition("=")
    return (label.strip(), path) if label.strip() and path and not Path(argument).exists() else (None, argument)


def _label(path: Path, taken: dict[str, tuple[Path, ...]], *, is_shared: bool) -> str:
    label = f"{path.absolute().parent.name}/{path.stem}" if is_shared else path.stem
    return next(name for name in (label, *(f"{label}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)


def files_of(path: str) -> tuple[Path, ...]:
    """Return the file, or the files that a pattern with `*`, `?` or `[` matches, sorted.

    Raises:
        ComparisonError: a pattern matches nothing.
    """
    if not _WILD & set(path) or Path(path).exists():
        return (Path(path),)
    paths = sorted(glob.glob(path))  # noqa: PTH207 - absolute, relative, folders: all may hold patterns
    if not paths:
        raise ComparisonError(f"{path}: matches no file")
    return tuple(map(Path, paths))
