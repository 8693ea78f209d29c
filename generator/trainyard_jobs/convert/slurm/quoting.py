"""Find where quotes and substitutions of a shell script end."""

from __future__ import annotations

import re
from collections.abc import Iterable


def begins_word(text: str, position: int) -> bool:
    """Return whether a word of a script may begin at a position."""
    return position == 0 or text[position - 1] in " \t\n;&|("


def end_of_quote(text: str, position: int) -> int | None:
    """Return where the quoted part ends that begins here; one character where nothing is quoted."""
    char = text[position]
    if char == "\\":
        return min(position + 2, len(text))
    if char == "'":
        return _after(text, "'", position + 1)
    if char == "#" and begins_word(text, position):
        return text.find("\n", position)
    if char in '"`':
        return end_of_double(text, position)
    if text.startswith(("$(", "${", "=("), position):
        return end_of_substitution(text, position)
    return position + 1


def _after(text: str, sign: str, position: int) -> int | None:
    start = text.find(sign, position)
    return None if start < 0 else start + 1


def end_of_double(text: str, position: int) -> int | None:
    """Return where a part in double quotes or backticks ends."""
    quote, position = text[position], position + 1
    while position < len(text) and text[position] != quote:
        if text.startswith("$(", position):
            end = end_of_substitution(text, position)
            if end is None:
                return None
            position = end
        else:
            position += 2 if text[position] == "\\" else 1
    return position + 1 if position < len(text) else None


_HERE = re.compile(r"<<(?!<)(-?)[ \t]*((?:[^\s;&|()<>'\"\\]|'[^']*'|\"[^\"]*\"|\\.)+)")
"""The begin of a here-document: whether tabs before its lines are left out, and its last line."""


def end_of_substitution(text: str, position: int) -> int | None:
    """Return where ``$(...)`` or ``${...}`` ends."""
    if text[position + 1] == "(" and "((" not in text[position : position + 3]:
        return _end_of_commands(text, position + 2)
    return _end_of_parts(text, position)


def _end_of_parts(text: str, position: int) -> int | None:
    """Return where ``$((...))`` or ``${...}`` ends."""
    opening = text[position + 1]
    closing = ")" if opening == "(" else "}"
    end: int | None = position + 2
    while end is not None and end < len(text) and text[end] != closing:
        end = _end_of_member(text, end, opening)
    return end + 1 if end is not None and end < len(text) else None


def _end_of_commands(text: str, position: int) -> int | None:
    """Return where the commands of ``$(...)`` end; here-documents and comments hold any signs."""
    end: int | None = position
    waiting: list[re.Match[str]] = []
    while end is not None and text[end : end + 1] not in {"", ")"}:
        if text[end] == "\n":
            end = _after_documents(text, end + 1, waiting)
            waiting = []
        elif here := _HERE.match(text, end):
            waiting.append(here)
            end = here.end()
        else:
            end = _after_part(text, end)
    return None if end is None or end >= len(text) else end + 1


def _after_part(text: str, position: int) -> int | None:
    """Return where a comment, a ``<<<`` or another part of commands ends."""
    if text[position] == "#" and begins_word(text, position):
        end = text.find("\n", position)
        return None if end < 0 else end
    if text.startswith("<<<", position):
        return position + 3
    return _end_of_member(text, position, "(")


def _after_documents(text: str, position: int, begins: Iterable[re.Match[str]]) -> int | None:
    """Return where the here-documents end that begin with a line."""
    for begin in begins:
        last = re.sub(r"['\"\\]", "", begin[2])
        tabs = r"\t*" if begin[1] else ""
        end = re.compile(rf"^{tabs}{re.escape(last)}$", re.MULTILINE).search(text, position)
        if end is None:
            return None
        position = end.end()
    return position


def _end_of_member(text: str, position: int, opening: str) -> int | None:
    """Return where a part of a substitution ends, which may be one of its own."""
    if text[position] == opening:
        return end_of_substitution(text, position - 1)
    return end_of_quote(text, position) if text[position] in "\"'`\\" else position + 1
