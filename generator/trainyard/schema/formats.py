"""What no pattern can check of a text: that a date is in the calendar, and that a line is one line in one script."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from typing import Final

from trainyard.yaml_io.lookalikes import mixed_word, name_of

_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


def _date(text: str) -> str:
    match = _DATE.fullmatch(text)
    if match is None:
        return ""  # The pattern beside the format answers for it.
    year, month, day = map(int, match.groups())
    if year == 0 or not 1 <= month <= 12:
        return f"takes a date of the calendar, not `{text}`: there is no month {text[:7]}"
    last = monthrange(year, month)[1]
    return (
        ""
        if 1 <= day <= last
        else f"takes a date of the calendar, not `{text}`: {text[:7]} has the days 01 to {last}"
    )


def _line(text: str) -> str:
    if broken := re.search("[\n\t]", text):
        what = "a tab" if broken[0] == "\t" else "a line break"
        return f"takes one line of text; it holds {what} after {broken.start()} characters"
    alien = mixed_word(text)
    return (
        f"mixes scripts in one word; it holds {name_of(alien)} among Latin letters" if alien else ""
    )


FORMATS: Final[Mapping[str, Callable[[str], str]]] = {"date": _date, "line": _line}
"""What is wrong with a text, as the end of a sentence about its key; nothing when the text is
right."""
