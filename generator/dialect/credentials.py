"""What looks like a credential, in any text: found before anything else reads it, and masked where text is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LITERAL: Final = r"(?P<secret>[^\s\"'$<{|>*&%!`][^\s\"']{5,})"
"""A value that is written out: no placeholder, template or block."""

_SHAPES: Final = {
    "a private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----(?s:.*?)(?:-----END|\Z)",
    "an AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{16,}",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "a Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a Vault token": r"\bhv[bsr]\.[A-Za-z0-9_-]{20,}",
    "a signed token": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    "a password in an address": r"://[^\s/:@]{1,100}:(?P<secret>[^\s/@${<][^\s/@]{0,200})@",
    "a password or key": (
        r"(?im:(?:^|[{,])[ \t-]*[\"']?[\w.-]{0,60}?(?:passwd|password|(?:access|api|secret)[_-]key|client[_-]secret"
        rf"|(?:access|auth)[_-]token)[\"']?[ \t]*[:=][ \t]*[\"']?{_LITERAL})"
    ),
}
_PATTERNS: Final = {what: re.compile(pattern) for what, pattern in _SHAPES.items()}


def find_credentials(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where each begins and ends and what it looks like, in the order of the text."""
    found = (
        (*match.span("secret" if "secret" in match.re.groupindex else 0), what)
        for what, pattern in _PATTERNS.items()
        for match in pattern.finditer(text)
    )
    end = 0
    for start, stop, what in sorted(found):
        # What has a shape of its own needs no second finding for the key that it stands under.
        if start >= end:
            yield start, stop, what
        end = max(end, stop)


def masked(text: str) -> str:
    """Return text of the same width and lines without what looks like a credential."""
    for start, stop, _ in find_credentials(text):
        text = text[:start] + re.sub(r"[^\n]", "*", text[start:stop]) + text[stop:]
    return text
