"""The known name that a misspelt one is meant for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_DIGITS = re.compile(r"\d[\d.]*")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is meant by another; empty when none is.

    A misspelt name begins with the same letter. One that differs in its digits alone is another
    version or another type, and no slip.
    """
    first, shape = name[:1].lower(), _DIGITS.sub("0", name)
    candidates = []
    for other in known:
        is_another_type = other != name and _DIGITS.sub("0", other) == shape
        if other[:1].lower() == first and not is_another_type:
            candidates.append(other)
    return next(iter(get_close_matches(name, candidates, n=1)), "")
