"""Blocks of code in Markdown: no host reads Markdown, HTML, a mention or a command in them."""

from __future__ import annotations

import re


def fenced(text: str, language: str) -> str:
    """Return text as a block of code; no run of backticks in it is as long as its fence."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
