"""A demangled C++ name taken apart: its path, and the template arguments and the call of each part of the path."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Self

from wallsplit.frozen import dataclass

LONGEST = 16_384
"""Characters of a name that are looked at."""

_TOKEN = re.compile(
    r"operator ?(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|<=|>=|<|>)"  # brackets that bracket nothing
    r"|<unnamed>|\(anonymous namespace\)|\{anonymous\}|`anonymous[ -]namespace'"
    r"|->|::|[<>()\[\]{}, ]|[^<>()\[\]{},: -]+|."
)
_UNNAMED = frozenset({"<unnamed>", "(anonymous namespace)", "{anonymous}", "`anonymous namespace'"})
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_QUALIFIERS = re.compile(r"(?: (?:const|volatile)| ?[*&])+$")
_LAMBDA = re.compile(r"lambda\((.*?)\)")


@dataclass(frozen=True)
class Part:
    """One step of a path: `name<arguments>(parameters)`."""

    name: str
    arguments: tuple[str, ...] = ()
    parameters: str | None = None

    @property
    def is_lambda(self) -> bool:
        """Whether this is a function without a name, `[lambda(float) (instance 1)]`."""
        return self.name[:1] in "[{'" and "lambda" in self.name

    @property
    def takes(self) -> tuple[str, ...]:
        """The types a lambda takes."""
        found = _LAMBDA.search(self.name)
        return split(found[1]) if found else ()


@dataclasses.dataclass
class _Draft:
    name: str = ""
    arguments: tuple[str, ...] = ()
    parameters: str | None = None

    def part(self) -> Part:
        return Part(self.name.lstrip("*&"), self.arguments, self.parameters)


@dataclass(frozen=True)
class Signature:
    """The path of a function or a type, outermost first; without the type a function returns."""

    path: tuple[Part, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the signature of a name; of text that is no C++ name, one part with all of it."""
        parts: list[Part] = []
        draft = _Draft()
        for group, inner in _groups(_QUALIFIERS.sub("", text[:LONGEST])):
            match group:
                case "::":
                    parts.append(draft.part())
                    draft = _Draft()
                case " ":
                    if draft.parameters is None:  # else a qualifier follows: "() const"
                        parts, draft = [], _Draft()  # so far it was the type that is returned
                case "<" if draft.name and draft.parameters is None:
                    draft.arguments = split(inner)
                case "(" if draft.name and draft.parameters is None:
                    draft.parameters = inner
                case "[" | "{":
                    draft.name += f"{group}{inner}{_CLOSING[group]}" if not draft.name else ""
                case "text" if draft.parameters is None and not draft.arguments:
                    draft.name += inner
        path = tuple(part for part in (*parts, draft.part()) if part.name)
        return cls(path or (Part(text),))

    @property
    def last(self) -> Part:
        """The thing itself."""
        return self.path[-1]


def split(text: str) -> tuple[str, ...]:
    """Return what the commas outside all brackets separate, without outer blanks."""
    found = [""]
    for group, inner in _groups(text):
        if group == ",":
            found.append("")
        else:
            found[-1] += inner if group == "text" else f"{group}{inner}{_CLOSING.get(group, '')}"
    return tuple(stripped for piece in found if (stripped := piece.strip()))


def _groups(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) outside all brackets: "text", "::", " ", ",", or an opening bracket with what it encloses.

    A bracket that nothing closes, or that closes nothing, is text.
    """
    tokens = _TOKEN.findall(text)
    ends = _ends(tokens)
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if at in ends:
            yield token, "".join(tokens[at + 1 : ends[at]])
            at = ends[at]
        elif token in ("::", " ", ","):
            yield token, ""
        elif token not in _UNNAMED:
            yield "text", token
        at += 1


def _ends(tokens: list[str]) -> dict[int, int]:
    """Return where each bracket that opens is closed."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token in _CLOSING:
            opened.append(at)
        elif token in _CLOSING.values() and opened and _CLOSING[tokens[opened[-1]]] == token:
            ends[opened.pop()] = at
    return ends
