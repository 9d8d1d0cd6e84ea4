"""What in a text is private by its form: paths, addresses, identities of machines, assignments of variables."""

import re
from collections.abc import Callable, Iterable

from wallsplit.frozen import dataclass

USER, HOST, UUID, MAC = "user@example.org", "192.0.2.1", "00000000-0000-0000-0000-000000000000", "00:00:00:00:00:00"
ANONYMOUS, LEFT_OUT = "anon", "…"
STAND_INS = (USER, HOST, UUID, MAC, ANONYMOUS, LEFT_OUT)
"""What is written for an address, a machine (RFC 5737), two kinds of identities, a name, and anything else."""
_SYSTEM = ("/proc/", "/sys/", "/dev/")
"""Folders that are the same on every machine."""


@dataclass(frozen=True)
class Form:
    """One form of private text: what it looks like, and what is written instead."""

    pattern: re.Pattern[str]
    instead: Callable[[re.Match[str]], str]


def _shortened(path: re.Match[str]) -> str:
    return path[0] if path[0].startswith(_SYSTEM) else ".../" + re.split(r"[\\/]", path[0])[-1]


def _form(pattern: str, instead: str, flags: int = 0) -> Form:
    return Form(re.compile(pattern, flags), lambda _: instead)


FORMS = (
    _form(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>]+", LEFT_OUT, re.IGNORECASE),
    Form(re.compile(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][\w.@+~-][\w.@+~ -]*){2,}"), _shortened),
    _form(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+", USER),
    _form(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", UUID, re.IGNORECASE),
    _form(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", MAC, re.IGNORECASE),
    _form(r"(?<![\w.:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b", HOST, re.IGNORECASE),
    _form(r"(?<!version )(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)", HOST),
    Form(
        re.compile(r"\b([A-Z][A-Z0-9_]{2,})=(?!-?\d+(?:\.\d+)?(?![\w.]))[^\s;,)\]>]+"), lambda m: f"{m[1]}={LEFT_OUT}"
    ),
)
"""In the order in which they are replaced: a path may be part of an address, a value may be a path."""

_NAME = re.compile(
    r"(?:^|[\s;\0])(?:USER|LOGNAME|USERNAME|SUDO_USER|HOSTNAME|COMPUTERNAME|HOST|CONTAINER_NAME|SLURM_JOB_USER|SLURMD_NODENAME"
    r"|SLURM_SUBMIT_HOST|SLURM_JOB_ACCOUNT|SLURM_JOB_NAME)=\"?([^\s;\0\"]+)"
)
_HOME = re.compile(r"[\\/](?:home|Users|u)[\\/]([^\\/\s;:\0\"']+)")
_ASSIGNED = re.compile(r"(?:^|[;\0\n ])([A-Z_a-z][A-Z_a-z0-9]{1,60})=(?:\"([^\"\0]*)\"|([^;\0\n]*))")
_PATH = re.compile(r"(?<![\w.])(?:[\\/][\w.@+~-]+){2,}")
_MAYBE = re.compile(r"[/\\@=]|[0-9a-fA-F][:-][0-9a-fA-F]|\d\.\d")
"""What every form has in it: most names have not, and cost no more than this."""
_SENSITIVE = re.compile(
    r"(?i)key|token|secret|pass|pwd|auth|cred|account|user|login|host|node|mail|proj|team|org|cluster|customer"
)
_PLAIN = re.compile(r"[\d.,:x\s+-]*|[A-Za-z]{0,11}")
"""A number, a version or one short word: its presence elsewhere tells nothing."""
_EVERYWHERE = re.compile(
    r"(?i)root|user|admin|python3?(\.exe)?|nsys|localhost|localdomain|linux|windows|main|home|anon|none|true|false|x86_64"
    r"|aarch64|default|local|unknown|system|nobody|ubuntu|debian|container|docker|runner|127\.0\.0\.1|0\.0\.0\.0"
)
"""Names and values that say nothing of one machine or user."""
SHORTEST = 6
"""Secrets of fewer characters are looked for in texts, as words, not in bytes, where they occur by chance."""


def names_stated(texts: Iterable[str]) -> set[str]:
    """Return the names of users and hosts that the texts state as such, in variables and as home folders."""
    stated = {name for text in texts for rule in (_NAME, _HOME) for name in rule.findall(text)}
    return distinctive_names(stated)


def distinctive_names(names: Iterable[str]) -> set[str]:
    """Return names, and hosts' names without their domain, that are not the same everywhere."""
    every = {part for name in names for part in (name, name.split(".")[0])}
    return {name for name in every if len(name) > 2 and not _EVERYWHERE.fullmatch(name) and not name.isdigit()}


def values(text: str) -> set[str]:
    """Return the values that a text assigns to variables, as an environment does, as far as they could tell anything.

    Any value of a variable whose name says that it is sensitive; of others not plain numbers and short words.
    """
    assigned = [(key, quoted or plain) for key, quoted, plain in _ASSIGNED.findall(text)]
    return {value for key, value in assigned if is_telling(value, sensitive=bool(_SENSITIVE.search(key)))}


def is_telling(value: str, *, sensitive: bool = False) -> bool:
    """Return whether a value, wherever it turns up, tells something about the user."""
    if len(value) < SHORTEST or _EVERYWHERE.fullmatch(value):
        return False
    return sensitive or not _PLAIN.fullmatch(value)


def instances(text: str) -> set[str]:
    """Return what in a text is private by its form, as it stands there; of paths also those between spaces."""
    if not _MAYBE.search(text):
        return set()
    whole = {match[0] for form in FORMS for match in form.pattern.finditer(text)}
    paths = {match[0] for match in _PATH.finditer(text)}
    return {found for found in whole | paths if len(found) >= SHORTEST and not found.startswith(_SYSTEM)}


def without(text: str) -> str:
    """Return the text with everything that is private by its form replaced."""
    if _MAYBE.search(text):
        for form in FORMS:
            text = form.pattern.sub(form.instead, text)
    return text
