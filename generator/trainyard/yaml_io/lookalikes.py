"""Name characters that look like others by their code points, which a screen does not show."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+")
_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f]")
_LIKE_LATIN: Final = re.compile(
    "[\u0400-\u052f\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d"
    "\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf]"
)
"""Cyrillic, and the Greek letters that look like Latin ones; others are used in formulas such as a
delta before a t."""


def name_of(char: str) -> str:
    """Return the name of a character for the user, e.g. ``U+202E RIGHT-TO-LEFT OVERRIDE``."""
    name = unicodedata.name(char, "")
    return f"U+{ord(char):04X} {name}".rstrip()


def beyond_ascii(text: str) -> str:
    """Return the first character that is not ASCII as the end of a sentence; empty for none."""
    found = next((char for char in text if not char.isascii()), "")
    return f"; it holds {name_of(found)}" if found else ""


def mixed_word(text: str) -> str:
    """Return the first letter that looks like a Latin one in a word with Latin letters, or None."""
    for word in _WORD.findall(text):
        if (alien := _LIKE_LATIN.search(word)) and _LATIN.search(word):
            return str(alien[0])
    return ""
