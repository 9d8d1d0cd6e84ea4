"""Reading a mangled name from its beginning to its end, within bounds: it comes from a file."""

from dataclasses import dataclass

from wallsplit.kernel_names.mangling_codes import DIGITS

LONGEST = 16_384
"""Characters of a name that is read, and of any part of what is written."""
DEEPEST = 80
"""Types within types: a name from a file must not exhaust the stack."""
MOST = 4_000_000
"""Characters written in all: each part may repeat an earlier one, so a short name can mean an endless one."""


class NotUnderstoodError(Exception):
    """The name breaks the grammar, or uses more of it than is covered."""


@dataclass
class MangledText:
    """A mangled name and how far it is read; every method that fails raises NotUnderstoodError."""

    text: str
    at: int
    depth: int = 0
    written: int = 0

    def peek(self, *options: str) -> bool:
        """Return whether one of the options comes next."""
        return self.text.startswith(options, self.at)

    def accept(self, option: str) -> bool:
        """Return whether the option came next, and go past it."""
        if found := self.peek(option):
            self.at += len(option)
        return found

    def expect(self, option: str) -> None:
        """Go past what must come next."""
        if not self.accept(option):
            raise NotUnderstoodError

    def take(self, count: int) -> str:
        """Return the next characters."""
        taken = self.text[self.at : self.at + count]
        if len(taken) < count:
            raise NotUnderstoodError
        self.at += count
        return taken

    def run(self, characters: str) -> str:
        """Return the longest run of these characters."""
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in characters:
            self.at += 1
        return self.text[start : self.at]

    def number(self, limit: int = LONGEST) -> int:
        """Return a number in decimal digits."""
        digits = self.run(DIGITS[:10])
        if not digits or len(digits) > 6 or int(digits) > limit:
            raise NotUnderstoodError
        return int(digits)

    def ordinal(self, base: int) -> int:
        """Return the number before an underscore, where none means 0, 0 means 1, and so on."""
        digits = self.run(DIGITS[:base])
        self.expect("_")
        if len(digits) > 6:
            raise NotUnderstoodError
        return int(digits, base) + 1 if digits else 0

    def bounded(self, text: str) -> str:
        """Return a text that is written, unless too much is."""
        self.written += len(text)
        if len(text) > LONGEST or self.written > MOST:
            raise NotUnderstoodError
        return text

    def deeper(self) -> None:
        """Go one type further in."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotUnderstoodError
