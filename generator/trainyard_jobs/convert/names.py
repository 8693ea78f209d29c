"""Names of objects after what the source calls something."""

from __future__ import annotations

import re

_NO_NAME = re.compile(r"[^a-z0-9]+")


def plain(text: str, longest: int = 50) -> str:
    """Return a text as a name that begins with a letter; empty where nothing of it can stay."""
    name = _NO_NAME.sub("-", text.lower()).strip("-0123456789")
    return name[:longest].rstrip("-")
