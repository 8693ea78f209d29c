"""Find what looks like a credential in any text, and mask it where text is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from trainyard.yaml_io.credential_forms import possible

_REST: Final = re.compile(r"[\w-]*", re.ASCII)


def find_credentials(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the begin, end and kind of each credential, in the order of the text."""
    found = [(*span, shape.what) for shape in possible(text) for span in shape.spans(text)]
    end = 0
    # The sort is stable: a credential with a form of its own comes before its key.
    for start, stop, what in sorted(found, key=lambda each: each[0]):
        if start >= end:
            yield start, _whole(text, stop), what
        end = max(end, _whole(text, stop))


def _whole(text: str, stop: int) -> int:
    """Return the end of the word that a credential ends in: a rule may match only its beginning."""
    return next(_REST.finditer(text, stop)).end() if text[stop - 1].isalnum() else stop


@lru_cache(maxsize=64)
def masked(text: str) -> str:
    """Return text of the same width and lines without what looks like a credential."""
    for start, stop, _ in find_credentials(text):
        text = text[:start] + re.sub(r"[^\n]", "*", text[start:stop]) + text[stop:]
    return text
