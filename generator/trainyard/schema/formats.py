"""Checks of text that no pattern can express: dates of the calendar, and lines in one script."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from typing import Final

from trainyard.yaml_io.lookalikes import mixed_word, name_of

_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


def _date(text: str) -> str:
    """Return what is wrong with a date; empty when nothing is, or when it has no date's form."""
    match = _DATE.fullmatch(text)
    if match is None:
        return ""  # The schema's pattern reports it.
    year, month, day = map(int, match.groups())
    if year == 0 or not 1 <= month <= 12:
        return f"takes a date of the calendar, not `{text}`: there is no month {text[:7]}"
    last = monthrange(year, month)[1]
    if 1 <= day <= last:
        return ""
    return f"takes a date of the calendar, not `{text}`: {text[:7]} has the days 01 to {last}"


def _line(text: str) -> str:
    """Return what is wrong with a line of text; empty when nothing is."""
    broken = re.search("[\n\t]", text)
    if broken:
        character = "a tab" if broken[0] == "\t" else "a line break"
        return f"takes one line of text; it holds {character} after {broken.start()} characters"
    alien = mixed_word(text)
    if alien:
        return f"mixes scripts in one word; it holds {name_of(alien)} among Latin letters"
    return ""


FORMATS: Final[Mapping[str, Callable[[str], str]]] = {"date": _date, "line": _line}
"""Checks by format. Each returns the end of a sentence about the key, empty for a valid text."""
