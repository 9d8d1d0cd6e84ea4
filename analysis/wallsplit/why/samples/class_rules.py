"""The user's own rules on which code is of which class, which go before the built-in ones: `--classes FILE.toml`."""

import re
from pathlib import Path

from wallsplit.errors import ClassRulesError
from wallsplit.text import for_people
from wallsplit.why.samples.classes import NAMES
from wallsplit.why.samples.rules import Rule

KEYS = ("class", "group", "module", "symbol")
OPTIONAL = "symbol"


def class_rules(path: Path) -> tuple[Rule, ...]:
    """Return the rules of a TOML file, in its order: tables `[[rule]]` with class, group, module and perhaps symbol.

    Raises:
        ClassRulesError: the file cannot be read, or a rule has an unknown key or class, lacks a key, or a pattern is
            no regular expression.
    """
    import tomllib  # few have a file of their own

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ClassRulesError(f"{path}: {error.strerror or 'cannot be read'}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ClassRulesError(f"{path}: this is no TOML ({' '.join(str(error).split())})") from error
    if unknown := sorted(table.keys() - {"rule"}):
        raise ClassRulesError(f"{path}: {for_people(unknown[0])}: unknown key; want tables [[rule]]")
    rules = table.get("rule", [])
    if not isinstance(rules, list):
        raise ClassRulesError(f"{path}: rule: is no list of tables; want tables [[rule]]")
    return tuple(_rule(rule, f"{path}: rule {number}") for number, rule in enumerate(rules, 1))


def _rule(rule: object, where: str) -> Rule:
    if not isinstance(rule, dict) or not all(isinstance(value, str) for value in rule.values()):
        raise ClassRulesError(f"{where}: want texts under {', '.join(KEYS)}")
    if unknown := sorted(rule.keys() - set(KEYS)):
        raise ClassRulesError(f"{where}: {for_people(unknown[0])}: unknown key; want {', '.join(KEYS)}")
    if missing := [key for key in KEYS if key not in rule and key != OPTIONAL]:
        raise ClassRulesError(f"{where}: {missing[0]}: missing; want {', '.join(KEYS)}")
    if rule["class"] not in NAMES:
        raise ClassRulesError(f"{where}: {for_people(rule['class'])}: unknown class; there are {', '.join(NAMES)}")
    for key in ("module", "symbol"):
        try:
            re.compile(rule.get(key, ""))
        except re.error as error:
            raise ClassRulesError(f"{where}: {key}: this is no regular expression ({error})") from error
    return Rule(rule["class"], rule["group"], rule["module"], rule.get("symbol"), "the user's own")
