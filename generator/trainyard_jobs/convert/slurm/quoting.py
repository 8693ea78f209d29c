"""Find where quotes and substitutions of a shell script end."""

from __future__ import annotations


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


def end_of_substitution(text: str, position: int) -> int | None:
    """Return where ``$(...)`` or ``${...}`` ends."""
    opening = text[position + 1]
    closing = ")" if opening == "(" else "}"
    end: int | None = position + 2
    while end is not None and end < len(text) and text[end] != closing:
        end = _end_of_member(text, end, opening)
    return end + 1 if end is not None and end < len(text) else None


def _end_of_member(text: str, position: int, opening: str) -> int | None:
    """Return where a part of a substitution ends, which may be one of its own."""
    if text[position] == opening:
        return end_of_substitution(text, position - 1)
    return end_of_quote(text, position) if text[position] in "\"'`\\" else position + 1
