"""Kernel names that arrive mangled, read by the Itanium C++ ABI and written as nsys writes the others.

Covers what CUDA compilers make of kernels: namespaces, templates, packs, lambdas inside functions, literals, pointers.
What it does not know (decltype, expressions) it leaves alone, rather than guess.
Grammar: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from wallsplit.kernel_names.mangled_text import LONGEST, MangledText, NotUnderstoodError
from wallsplit.kernel_names.mangling_codes import BUILTINS, DIGITS, OPERATORS, QUALIFIERS, REFERENCES, STANDARD


def demangled(name: str) -> str | None:
    """Return the name that a mangled one stands for, in nsys' spelling; None for any other, or one not understood."""
    if not name.startswith("_Z") or len(name) > LONGEST:
        return None
    reader = _Reader(name, 2)
    try:
        result = reader.encoding()
    except NotUnderstoodError:
        return None
    rest = name[reader.at :]
    return result if not rest or rest[0] in ".$" else None  # what follows a dot is a compiler's mark of a copy


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
class _Reader(MangledText):
    """The grammar: a method a rule, which reads it and returns what it stands for."""

    parts: list[_Type] = field(default_factory=list)  # what S_, S0_, … stand for

    def remember(self, part: _Type) -> _Type:
        self.bounded(str(part))
        self.parts.append(part)
        return part

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
        qualifiers = "".join(f" {QUALIFIERS[letter]}" for letter in self.run("rVK"))
        qualifiers += "".join(f" {REFERENCES[letter]}" for letter in self.run("RO"))
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
        if self.peek(*DIGITS[:10]):
            return self.source_name()
        if self.accept("cv"):
            return f"operator {self.type()}"
        operator = OPERATORS.get(self.take(2))
        if operator is None:
            raise NotUnderstoodError
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
            return _qualified(self.type(), [QUALIFIERS[letter] for letter in reversed(letters)])
        for letter, sign in REFERENCES.items():
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
            size = self.run(DIGITS[:10])
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
            raise NotUnderstoodError
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
