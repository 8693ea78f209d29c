"""Link the terms of docs/reference/glossary.md: `python -m docs.glossary PAGE...`.

A page links a term where it uses it first, outside of headings, code and other links. The links are
written as `[term]`, and their targets at the end of the page, so that lines stay short. Pages for
users also link the words of docs/users/glossary.md.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docs.markdown import anchor

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
USERS_GLOSSARY = ROOT / "docs" / "users" / "glossary.md"
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\[\]]+)\](?:\(([^)\s]*)\)|\[([^\[\]]*)\])?")
_TARGET = re.compile(r"^\[([^\]]+)\]: (\S+)$", re.MULTILINE)
_NO_PROSE = (
    BLOCK,
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"^#.*$", re.MULTILINE),
    re.compile(r"``.+?``|`[^`\n]+`"),
    re.compile(r"<[^>\n]+>|https?://[^\s)]+"),
    _TARGET,
)


class Use(NamedTuple):
    """A term in the text of a page, from one offset to another."""

    term: str
    start: int
    end: int


def glossaries(page: Path) -> list[Path]:
    """Return the glossaries whose terms a page links."""
    found = [GLOSSARY, USERS_GLOSSARY] if page.parent == USERS_GLOSSARY.parent else [GLOSSARY]
    return [each for each in found if each != page]


def terms(glossary: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield each term of the glossary's text, and the pattern that finds it, in the plural too.

    Release notes of another project do not count.
    """
    for heading in re.findall(r"^## (.+)$", glossary, re.MULTILINE):
        term = heading.lower()
        pattern = rf"(?<![\w/#.-]){re.escape(term)}s?(?![\w/-]| notes)"
        yield term, re.compile(pattern, re.IGNORECASE)


def targets(text: str) -> dict[str, str]:
    """Return the targets at the end of a page by their labels."""
    return {label.lower(): target for label, target in _TARGET.findall(text)}


def without_code(text: str) -> str:
    """Return a page with blanks in place of headings, code, comments and targets."""
    for pattern in _NO_PROSE:
        text = pattern.sub(_blank, text)
    return text


def unlinked(text: str, glossary: str) -> Iterator[Use]:
    """Yield the first use of each term that the page does not link at or before that use."""
    code_free = without_code(text)
    linked = _linked_terms(code_free, targets(text))
    prose = _LINK.sub(_blank, code_free)
    for term, pattern in terms(glossary):
        first = pattern.search(prose)
        if first and linked.get(anchor(term), len(text)) > first.start():
            yield Use(term, first.start(), first.end())


def link(text: str, to_glossary: str, glossary: str) -> str:
    """Return a page with a link at the first use of each term."""
    uses = sorted(unlinked(text, glossary), key=lambda use: -use.start)
    for term, start, end in uses:
        word = text[start:end]
        label = "" if word.lower() == term else f"[{term}]"
        text = f"{text[:start]}[{word}]{label}{text[end:]}"
    known = targets(text)
    missing = sorted({use.term for use in uses} - known.keys())
    if missing:
        text = text.rstrip() + ("\n" if known else "\n\n")
        text += "".join(f"[{term}]: {to_glossary}#{anchor(term)}\n" for term in missing)
    return text


def _linked_terms(text: str, known: dict[str, str]) -> dict[str, int]:
    """Return where a page first links each anchor of the glossary."""
    linked: dict[str, int] = {}
    for match in _LINK.finditer(text):
        words, inline, label = match.groups()
        target = inline or known.get((label or words).lower(), "")
        page, _, place = target.partition("#")
        if page.endswith("glossary.md"):
            linked.setdefault(place, match.start())
    return linked


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def main(pages: list[str]) -> None:
    """Link the terms of each page in place."""
    for page in (Path(each).resolve() for each in pages):
        text = page.read_text("utf-8")
        for glossary in glossaries(page):
            to_glossary = os.path.relpath(glossary, page.parent)
            text = link(text, to_glossary, glossary.read_text("utf-8"))
        page.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
