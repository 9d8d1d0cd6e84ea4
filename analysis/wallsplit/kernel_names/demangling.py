"""Kernel names that arrive mangled, read by the Itanium C++ ABI and written as nsys writes the others.

Covers what CUDA compilers make of kernels: namespaces, templates, packs, lambdas inside functions, literals, pointers.
What it does not know (decltype, expressions) it leaves alone, rather than guess.
Grammar: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
"""

from dataclasses import dataclass, field
from typing import NamedTuple

LONGEST = 16_384
"""Characters of a name that is read, and of any part of what is written."""
DEEPEST = 80
"""Types within types: a name from a file must not exhaust the stack."""
MOST = 4_000_000
"""Characters written in all: each part may repeat an earlier one, so a short name can mean an endless one."""

BUILTINS = {
    "v": "void",
    "w": "wchar_t",
    "b": "bool",
    "c": "char",
    "a": "signed char",
    "h": "unsigned char",
    "s": "short",
    "t": "unsigned short",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "x": "long long",
    "y": "unsigned long long",
    "n": "__int128",
    "o": "unsigned __int128",
    "f": "float",
    "d": "double",
    "e": "long double",
    "g": "__float128",
    "z": "...",
    "Dn": "std::nullptr_t",
    "Dh": "half",
    "Di": "char32_t",
    "Ds": "char16_t",
    "Du": "char8_t",
    "Da": "auto",
}
STANDARD = {
    "St": "std",
    "Sa": "std::allocator",
    "Sb": "std::basic_string",
    "Ss": "std::string",
    "Si": "std::istream",
    "So": "std::ostream",
    "Sd": "std::iostream",
}
OPERATORS = {
    "cl": " ()",
    "ix": "[]",
    "nw": " new",
    "na": " new[]",
    "dl": " delete",
    "da": " delete[]",
    "co": "~",
    "pl": "+",
    "mi": "-",
    "ml": "*",
    "dv": "/",
    "rm": "%",
    "an": "&",
    "or": "|",
    "eo": "^",
    "aS": "=",
    "pL": "+=",
    "mI": "-=",
    "mL": "*=",
    "dV": "/=",
    "rM": "%=",
    "aN": "&=",
    "oR": "|=",
    "eO": "^=",
    "ls": "<<",
    "rs": ">>",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "gt": ">",
    "le": "<=",
    "ge": ">=",
    "nt": "!",
    "aa": "&&",
    "oo": "||",
    "pp": "++",
    "mm": "--",
    "cm": ",",
    "pm": "->*",
    "pt": "->",
}
_QUALIFIERS = {"r": "__restrict__", "V": "volatile", "K": "const"}
_REFERENCES = {"P": "*", "R": "&", "O": "&&"}
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def demangled(name: str) -> str | None:
    """Return the name that a mangled one stands for, in nsys' spelling; None for any other, or one not understood."""
    if not name.startswith("_Z") or len(name) > LONGEST:
        return None
    reader = _Reader(name, 2)
    try:
        result = reader.encoding()
    except _NotUnderstoodError:
        return None
    rest = name[reader.at :]
    return result if not rest or rest[0] in ".$" else None  # what follows a dot is a compiler's mark of a copy


class _NotUnderstoodError(Exception):
    """The name breaks the grammar, or uses more of it than is covered."""


class _Type(NamedTuple):
    """A type as what goes before and after the thing of that type."""

    before: str
    after: str = ""

    def __str__(self) -> str:
        return self.before + self.after


class _Name(NamedTuple):
    text: str
    is_template: bool = False  # ends with template arguments: a function of that name states its return type
    qualifiers: str = ""  # of a member function


@dataclass
class _Reader:
    text: str
    at: int
    parts: list[_Type] = field(default_factory=list)  # what S_, S0_, … stand for
    depth: int = 0
    written: int = 0

    def peek(self, *options: str) -> bool:
        return self.text.startswith(options, self.at)

    def accept(self, option: str) -> bool:
        if found := self.peek(option):
            self.at += len(option)
        return found

    def expect(self, option: str) -> None:
        if not self.accept(option):
            raise _NotUnderstoodError

    def take(self, count: int) -> str:
        taken = self.text[self.at : self.at + count]
        if len(taken) < count:
            raise _NotUnderstoodError
        self.at += count
        return taken

    def run(self, characters: str) -> str:
        """Return the longest run of these characters."""
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in characters:
            self.at += 1
        return self.text[start : self.at]

    def number(self, limit: int = LONGEST) -> int:
        digits = self.run(_DIGITS[:10])
        if not digits or len(digits) > 6 or int(digits) > limit:
            raise _NotUnderstoodError
        return int(digits)

    def ordinal(self, base: int) -> int:
        """Return the number before an underscore, where none means 0, 0 means 1, and so on."""
        digits = self.run(_DIGITS[:base])
        self.expect("_")
        if len(digits) > 6:
            raise _NotUnderstoodError
        return int(digits, base) + 1 if digits else 0

    def bounded(self, text: str) -> str:
        self.written += len(text)
        if len(text) > LONGEST or self.written > MOST:
            raise _NotUnderstoodError
        return text

    def remember(self, part: _Type) -> _Type:
        self.bounded(str(part))
        self.parts.append(part)
        return part

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _NotUnderstoodError

    # Names

    def encoding(self) -> str:
        self.deeper()
        name = self.name()
        if self.at == len(self.text) or self.peek("E", "."):
            self.depth -= 1
            return name.text
        result = self.type() if name.is_template else None
        written = f"{name.text}({self.parameters('E', '.', '$')}){name.qualifiers}"
        self.depth -= 1
        return self.bounded(f"{_spaced(result.before)}{written}{result.after}" if result else written)

    def parameters(self, *ends: str) -> str:
        """Types up to the end or one of `ends`, which is left; a single void is none."""
        types = []
        while self.at < len(self.text) and not self.peek(*ends):
            types.append(str(self.type()))
        return "" if types == ["void"] else self.bounded(", ".join(types))

    def name(self) -> _Name:
        if self.accept("N"):
            return self.nested()
        if self.accept("Z"):
            return self.local()
        if self.peek("S") and not self.peek("St"):
            return _Name(f"{self.substitution()}{self.arguments()}", is_template=True)
        text = f"std::{self.unqualified()}" if self.accept("St") else self.unqualified()
        if not self.peek("I"):
            return _Name(text)
        self.remember(_Type(text))
        return _Name(text + self.arguments(), is_template=True)

    def nested(self) -> _Name:
        qualifiers = "".join(f" {_QUALIFIERS[letter]}" for letter in self.run("rVK"))
        qualifiers += "".join(f" {_REFERENCES[letter]}" for letter in self.run("RO"))
        text, last, is_template = "", "", False
        while not self.accept("E"):
            is_template = self.peek("I") and bool(text)
            if is_template:
                text += self.arguments()
            elif self.peek("S"):
                text = str(self.substitution())
                continue
            elif self.peek("T"):
                text = str(self.template_parameter())
            else:
                last = self.special(last) or self.unqualified()
                text = f"{text}::{last}" if text else last
            if not self.peek("E"):
                self.remember(_Type(text))
        return _Name(self.bounded(text), is_template, qualifiers)

    def special(self, owner: str) -> str | None:
        """Return a constructor or destructor, named like its class."""
        for marks, sign in ((("C1", "C2", "C3"), ""), (("D0", "D1", "D2"), "~")):
            if self.peek(*marks):
                self.take(2)
                return sign + owner
        return None

    def local(self) -> _Name:
        function = self.encoding()
        self.expect("E")
        if self.accept("s"):
            return _Name(f"{function}::string literal")
        if self.accept("d"):
            self.ordinal(10)
        name = self.name()
        if self.accept("__"):
            self.ordinal(10)
        elif self.accept("_"):
            self.take(1)
        return name._replace(text=self.bounded(f"{function}::{name.text}"))

    def unqualified(self) -> str:
        if self.accept("Ul"):
            parameters = self.parameters("E")
            self.expect("E")
            return f"[lambda({parameters}) (instance {self.ordinal(10) + 1})]"
        if self.accept("Ut"):
            return f"[unnamed type (instance {self.ordinal(10) + 1})]"
        self.accept("L")  # internal linkage
        if self.peek(*_DIGITS[:10]):
            return self.source_name()
        if self.accept("cv"):
            return f"operator {self.type()}"
        operator = OPERATORS.get(self.take(2))
        if operator is None:
            raise _NotUnderstoodError
        return f"operator{operator}"

    def source_name(self) -> str:
        name = self.take(self.number())
        while self.accept("B"):
            name += f"[abi:{self.take(self.number())}]"
        return "<unnamed>" if name.startswith("_GLOBAL__N") else name

    # Types

    def type(self) -> _Type:
        self.deeper()
        found = self.builtin()
        if found is None:
            found = self.remember(self.compound())
            if self.peek("I"):  # a template that a substitution or a parameter names
                found = self.remember(_Type(f"{found}{self.arguments()}"))
        elif self.peek("I"):
            found = self.remember(_Type(f"{found}{self.arguments()}"))
        self.depth -= 1
        return found

    def builtin(self) -> _Type | None:
        """Return a type that no substitution stands for, or one that a substitution does."""
        for length in (1, 2):
            if word := BUILTINS.get(self.text[self.at : self.at + length]):
                self.at += length
                return _Type(word)
        if self.accept("u"):
            return _Type(self.source_name())
        if self.accept("DF"):
            width = self.number()
            return _Type(f"__bf{width}" if self.accept("b") else self._float(width))
        return self.substitution() if self.peek("S") and not self.peek("St") else None

    def _float(self, width: int) -> str:
        self.expect("_")
        return f"_Float{width}"

    def compound(self) -> _Type:
        if letters := self.run("rVK"):
            return _qualified(self.type(), [_QUALIFIERS[letter] for letter in reversed(letters)])
        for letter, sign in _REFERENCES.items():
            if self.accept(letter):
                return _pointer(self.type(), sign)
        if self.accept("Dp"):
            return _Type(f"{self.type()}...")
        if self.accept("F"):
            self.accept("Y")
            result = self.type()
            parameters = self.parameters("E")
            self.expect("E")
            return _Type(f"{_spaced(result.before)}(", f")({parameters}){result.after}")
        if self.accept("A"):
            size = self.run(_DIGITS[:10])
            self.expect("_")
            element = self.type()
            return _Type(f"{_spaced(element.before)}(", f")[{size}]{element.after}")
        if self.accept("M"):
            owner, member = self.type(), self.type()
            return _Type(f"{_spaced(member.before)}{owner}::*", member.after)
        if self.peek("T"):
            return self.template_parameter()
        return _Type(self.name().text)

    def template_parameter(self) -> _Type:
        self.expect("T")
        return _Type(f"T{self.ordinal(10) + 1}")

    def substitution(self) -> _Type:
        if word := STANDARD.get(self.text[self.at : self.at + 2]):
            self.at += 2
            return _Type(word)
        self.expect("S")
        place = self.ordinal(36)
        if place >= len(self.parts):
            raise _NotUnderstoodError
        return self.parts[place]

    # Template arguments

    def arguments(self) -> str:
        self.expect("I")
        return self.bounded(f"<{', '.join(self.argument_list())}>")

    def argument_list(self) -> list[str]:
        self.deeper()
        found = []
        while not self.accept("E"):
            if self.accept("J"):
                found += self.argument_list()
            elif self.peek("L"):
                found.append(self.literal())
            elif self.accept("X"):
                found.append(self.literal() if self.peek("L") else str(self.template_parameter()))
                self.expect("E")
            else:
                found.append(str(self.type()))
        self.depth -= 1
        return found

    def literal(self) -> str:
        self.expect("L")
        if self.accept("_Z"):
            value = f"&{self.encoding()}"
        else:
            kind = self.type()
            sign = "-" if self.accept("n") else ""
            value = f"({kind}){sign}{self.run('0123456789abcdef')}"
        self.expect("E")
        return value


def _qualified(kind: _Type, words: list[str]) -> _Type:
    if kind.before.endswith(("*", "&", "*const")):
        return kind._replace(before=kind.before + " ".join(words))
    return kind._replace(before=f"{' '.join(words)} {kind.before}")


def _pointer(kind: _Type, sign: str) -> _Type:
    return kind._replace(before=f"{_spaced(kind.before)}{sign}")


def _spaced(before: str) -> str:
    return before if before.endswith(("*", "&", "(")) else f"{before} "
