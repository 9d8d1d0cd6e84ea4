"""New names for old: without secrets, or hashed; one to one within a kind, or what is counted by name would change."""

import hashlib
import hmac
import re
from collections import defaultdict
from dataclasses import dataclass, field

import polars as pl

from wallsplit.breakdowns.range_groups import LAST_NUMBER, OPERATION_NUMBERS
from wallsplit.export.secrets import Secrets
from wallsplit.ledger.phases import PHASES, words
from wallsplit.model.communication import LIBRARIES
from wallsplit.model.nvtx import LIBRARY_DOMAINS
from wallsplit.trace.shareable import TextKind
from wallsplit.why.steps.named import STEP
from wallsplit.why.steps.ranges import LAYER

_CALL = re.compile(r"[A-Za-z0-9_:~.@<>, ]{1,80}")
"""What functions of CUDA, MPI and the operating system are called."""
_VERSION = re.compile(r"[A-Za-z0-9_.+ -]{1,60}")
_COMMUNICATION = tuple(re.compile(pattern, re.IGNORECASE) for _, pattern in LIBRARIES)
_NUMBERS = re.compile(r"[0-9]+")
_OPERATION, _COUNT = re.compile(OPERATION_NUMBERS), re.compile(LAST_NUMBER)
_STAYS = re.compile(
    r"(?:(?:^| )(?:steps?|epochs?|validation|train|training|test|batch|iteration|iter|data|load|forward|backward"
    r"|optimizer|loss|metrics|callback|compile|setup|warmup|warm up|h # d|d # h|sync|copy|#)(?= |$))+"
)
"""Names that consist of such words are everyone's."""
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjkmnpqrstv")
"""No digits, which would be taken for those that count ranges, and no vowels, which make words."""


@dataclass(frozen=True)
class RenamedTexts:
    """The distinct texts of one kind that are in the new file."""

    texts: tuple[str, ...]
    changed: int
    """How many of them were others before."""


@dataclass
class Renaming:
    """Gives each text its new one. The key of the hashes is made for one file and thrown away."""

    secrets: Secrets
    key: bytes
    hash_kernels: bool = False
    hash_ranges: bool = False
    _new: dict[TextKind, dict[str, str]] = field(default_factory=lambda: defaultdict(dict), repr=False)
    _taken: dict[TextKind, set[str]] = field(default_factory=lambda: defaultdict(set), repr=False)

    def renamed(self, kind: TextKind, texts: pl.Series) -> pl.Series:
        """Return the new texts of String `texts`, in the same order, null for null."""
        distinct = texts.drop_nulls().unique(maintain_order=True)
        new = self._new[kind]
        unknown = distinct.filter(~distinct.is_in(list(new)))
        for old, cleaned in zip(unknown, self.secrets.removed(unknown), strict=True):
            new[old] = self._untaken(kind, self._chosen(kind, old, cleaned))
        return texts.replace_strict(distinct, pl.Series([new[text] for text in distinct], dtype=pl.String))

    def names(self, kind: TextKind) -> "RenamedTexts":
        """Return the new texts of a kind, in the order in which they were first asked for."""
        new = self._new[kind]
        return RenamedTexts(tuple(new.values()), sum(before != after for before, after in new.items()))

    def _chosen(self, kind: TextKind, old: str, cleaned: str) -> str:
        if is_public(kind, old):
            return old
        if kind in ("kernel", "short_kernel") and self.hash_kernels:
            return self._hashed_kernel(old)
        if kind == "range" and self.hash_ranges:
            return self._hashed_range(old)
        if kind == "range":
            return _of_same_phase(old, cleaned)
        return re.split(r"[\\/]", cleaned)[-1] if kind == "process" else cleaned

    def _untaken(self, kind: TextKind, text: str) -> str:
        if kind in ("process", "message"):
            return text
        while text in self._taken[kind]:
            text += "′"
        self._taken[kind].add(text)
        return text

    def _digest(self, text: str) -> str:
        return hmac.new(self.key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:12]

    def _hashed_kernel(self, name: str) -> str:
        """Return a name that tells of the old one only which library for communication it belongs to."""
        library = next((found[0] for rule in _COMMUNICATION if (found := rule.search(name))), None)
        hashed = f"kernel_{self._digest(name)}"
        return f"{library}::{hashed}" if library else hashed

    def _hashed_range(self, name: str) -> str:
        """Return a name that tells of the old one only its phase, whether it is a step or a layer, and its numbers."""
        if name in LIBRARY_DOMAINS or _STAYS.fullmatch(words(name)):
            return name
        operation = _OPERATION.search(name)
        body = _OPERATION.sub(r"\1", name)
        count = _COUNT.search(body)
        body = body[: count.start()] if count else body
        layer = re.search(LAYER, body)
        others = _NUMBERS.findall(body[: layer.start()] + body[layer.end() :] if layer else body)
        digest = self._digest(_NUMBERS.sub("0", body)).translate(_LETTERS)
        parts = [*_telling(words(name)), *([layer[0].strip()] if layer else []), f"range_{digest}", *others]
        return " ".join([*parts, *([count[0]] if count else [])]) + (operation[0].rstrip(", ") if operation else "")


def _of_same_phase(old: str, cleaned: str) -> str:
    """Return the cleaned name of a range, its phase in front where only what was left out told it."""
    telling = _telling(words(old))
    return cleaned if _telling(words(cleaned)) == telling else " ".join([*telling, cleaned])


def _telling(text: str) -> list[str]:
    """Return the words by which a range's phase is known, and those by which it is a step."""
    phase = next((found for rule in PHASES if (found := rule.pattern.search(text))), None)
    return list(dict.fromkeys(found[0] for found in (phase, STEP.search(text)) if found))


def is_public(kind: TextKind, text: str) -> bool:
    """Return whether a text is what a vendor calls a thing, and not what a user does."""
    rule = {"call": _CALL, "setting": _VERSION, "product": _VERSION}.get(kind)
    return rule is not None and rule.fullmatch(text) is not None
