"""The forms that credentials have: gitleaks' rules, and our own for what they don't find."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

_RULES: Final = Path(__file__).parent / "gitleaks" / "rules.json"


@dataclass(frozen=True, slots=True)
class Shape:
    """A form of credential.

    Args:
        what: how a message names it.
        pattern: its group ``secret``, or all that it matches, is the credential.
        keywords: in lower case; a text without any of them holds no such credential.
        entropy: bits a character that the credential must exceed: a placeholder is less random.
        flags: of `re`.
    """

    what: str
    pattern: str
    keywords: tuple[str, ...]
    entropy: float = 0
    flags: int = 0

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where each credential of this form begins and ends."""
        compiled = _compiled(self.pattern, self.flags)
        group = "secret" if "secret" in compiled.groupindex else 0
        for match in compiled.finditer(text):
            if _entropy(match[group]) >= self.entropy:
                yield match.span(group)


_BASE64_BEGIN: Final = ("LS0tLS1CRUdJTi", "0tLS0tQkVHSU4", "tLS0tLUJFR0lO")
"""Base64 of ``-----BEGIN``, at each of the three places that it may have in a group of three
bytes."""
_BASE64_PRIVATE: Final = ("UFJJVkFURSBLRV", "BSSVZBVEUgS0VZ", "QUklWQVRFIEtFW")
"""Base64 of ``PRIVATE KEY``, likewise; a certificate has none."""
_WRAPPED: Final = r"\s{0,20}"
_PRIVATE: Final = "|".join(_WRAPPED.join(word) for word in _BASE64_PRIVATE)

_TELLING: Final = (
    r"(?:passw(?:or)?d|passphrase|(?:access|api|secret)[_-]key|client[_-]secret"
    r"|(?:access|auth)[_-]token)"
    r"[\"']?[ \t]*[:=][ \t]*[\"']?"
)
"""How a key ends that a credential is expected under, and what is between it and its value."""
_LITERAL: Final = r"[^\s\"'$<{|>*&%!`][^\s\"']{5,}"
"""A value that is written out: no placeholder, template or block."""
_TELLING_WORDS: Final = ("passw", "passphrase", "_key", "-key", "secret", "token")

OWN: Final = (
    Shape(
        "a private key",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END|\Z)",
        ("-----begin",),
    ),
    Shape(
        "a private key in base64",
        rf"(?:{'|'.join(_BASE64_BEGIN)}){_WRAPPED}"
        rf"(?:[A-Za-z0-9+/]{_WRAPPED}){{0,40}}?(?:{_PRIVATE})"
        r"[A-Za-z0-9+/=]*(?:\r?\n[ \t]*[A-Za-z0-9+/=]{16,}(?=\r?\n|\Z))*",
        tuple(each.lower() for each in _BASE64_BEGIN),
    ),
    Shape("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", ("akia", "asia")),
    Shape(
        "a GitHub token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    Shape("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{16,}", ("glpat-",)),
    Shape("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}", ("hf_",)),
    Shape("an NVIDIA API key", r"\bnvapi-[A-Za-z0-9_-]{20,}", ("nvapi-",)),
    Shape("an OpenAI API key", r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}", ("sk-",)),
    Shape("a Docker Hub token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", ("dckr_",)),
    Shape("a Vault token", r"\bhv[bsr]\.[A-Za-z0-9_-]{20,}", ("hvb.", "hvs.", "hvr.")),
    Shape(
        "a password in an address",
        r"://[^\s/:@]{1,100}:(?P<secret>[^\s/@${<][^\s/@]{0,200})@",
        ("://",),
    ),
)
TELLING: Final = (
    Shape(
        "a password or key",
        rf"(?:^|[{{,])(?>[ \t-]*)[\"']?[\w.-]{{0,60}}?{_TELLING}(?P<secret>{_LITERAL})",
        _TELLING_WORDS,
        flags=re.IGNORECASE | re.MULTILINE,
    ),
    # The middle of a line can be prose, e.g. in a comment: only a word with a digit is taken for a
    # password.
    Shape(
        "a password or key",
        rf"{_TELLING}(?P<secret>(?=[^\s\"'0-9]{{0,200}}[0-9]){_LITERAL})",
        _TELLING_WORDS,
        flags=re.IGNORECASE,
    ),
)
"""Credentials without a form of their own are recognised by their keys."""


def possible(text: str) -> Iterator[Shape]:
    """Yield the forms whose keywords a text has, the most specific first."""
    lowered = text.lower()
    present = {word for word in _words() if word in lowered}
    return (
        (shape for shape in shapes() if not present.isdisjoint(shape.keywords))
        if present
        else iter(())
    )


@cache
def _words() -> tuple[str, ...]:
    return tuple(sorted({word for shape in shapes() for word in shape.keywords}))


@cache
def shapes() -> tuple[Shape, ...]:
    """Return every form, the most specific first."""
    rules: list[dict[str, Any]] = json.loads(_RULES.read_text(encoding="utf-8"))
    kept = (
        Shape(
            f"a credential (gitleaks: {rule['id']})",
            rule["pattern"],
            tuple(rule["keywords"]),
            rule["entropy"],
            re.ASCII,
        )
        for rule in rules
    )
    return (*OWN, *kept, *TELLING)


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


def _entropy(text: str) -> float:
    """Return the entropy of a text, bits a character."""
    return -sum(
        count / len(text) * math.log2(count / len(text)) for count in Counter(text).values()
    )
