"""Replace variables of a script whose values are known before it runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import prod

from trainyard_jobs.convert.slurm.shell import Token, written

_PART = re.compile(
    r"(?<!\\)\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)"
    r"(?:(?P<empty>:?)-(?P<default>[\w./:-]*))?\})"
)
_READ = re.compile(r"\$(?:\{[#!]?)?([A-Za-z_]\w*)")
_ARITHMETIC = re.compile(r"\(\((.*?)\)\)", re.DOTALL)
_COMPUTED = re.compile(r"(?<!\\)\$\(\(([\w\s${}*+-]+)\)\)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_SINGLE = re.compile(r"'[^']*\$[^']*'")
LONGEST = 16 * 1024
"""Characters of a value that is followed; a longer one is left to the shell."""


def computed(raw: str, known: Mapping[str, str | None]) -> str:
    """Return a word with the numbers of its arithmetic, where the values in it are known."""

    def number(match: re.Match[str]) -> str:
        text = _NAME.sub(lambda name: known.get(name[0]) or "?", match[1].replace("$", ""))
        value = _number(re.sub(r"\s+|[{}]", "", text))
        return match[0] if value is None else str(value)

    return raw if "'" in raw else _COMPUTED.sub(number, raw)


def _number(text: str) -> int | None:
    """Return the value of products and sums; None for other arithmetic."""
    if not re.fullmatch(r"[1-9]\d*(?:[*+-][1-9]\d*)*", text):
        return None
    total = 0
    for sign, product in re.findall(r"([+-]?)([\d*]+)", text):
        value = prod(map(int, product.split("*")))
        total += -value if sign == "-" else value
    return total


def names_in(text: str) -> set[str]:
    """Return the names of the variables that a piece of script reads, in quotes too.

    Arithmetic reads them without a ``$``.
    """
    found = set(_READ.findall(text))
    return found.union(*map(_NAME.findall, _ARITHMETIC.findall(text)))


def read_by(words: Iterable[Token]) -> set[str]:
    """Return the names of the variables that words read."""
    return names_in(written(words))


def spelled(token: Token, known: Mapping[str, str | None]) -> str:
    """Return a word as a program gets it, or as the script has it where that is not known."""
    value = expanded(token, known)
    return token.text if value is None else value


def expanded(
    token: Token, known: Mapping[str, str | None], *, is_value: bool = False
) -> str | None:
    """Return a word as the shell would give it to a program; None if that is not known.

    Args:
        token: the word.
        known: value of each variable that has one before the script runs; None for one whose
            value the script finds out.
        is_value: it is the value of an assignment, where the shell looks for no files.
    """
    token = Token(computed(token.raw, known), token.at)
    if not is_value and token.spreads:
        return None
    if not token.expands:
        return token.text
    if _SINGLE.search(token.raw):
        return None
    room = LONGEST

    def value(parameter: re.Match[str]) -> str:
        nonlocal room
        text = _value_of(parameter, known)
        room -= len(text)
        if room < 0:
            raise LookupError
        return text

    try:
        replaced = Token(_PART.sub(value, token.raw), token.at)
    except LookupError:
        return None
    return None if replaced.expands else replaced.text


def _value_of(parameter: re.Match[str], known: Mapping[str, str | None]) -> str:
    """Return what the shell puts in place of a variable.

    Raises:
        LookupError: that is not known, or the shell would take it apart.
    """
    name = parameter["plain"] or parameter["braced"]
    text = known.get(name, parameter["default"])
    if not text and parameter["empty"] and name in known:
        text = text if text is None else parameter["default"]
    if text is None or not re.fullmatch(r"[\w./:@%+=,-]*", text):
        raise LookupError
    return text
