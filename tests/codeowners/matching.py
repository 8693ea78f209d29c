"""A reader of CODEOWNERS of our own: the last line that matches a file has its owners."""

from __future__ import annotations

import re


def owners_of(text: str, path: str) -> tuple[str, ...]:
    """Return the owners of a file as GitHub finds them; none where no line matches, or the last
    one that does names nobody."""
    found: tuple[str, ...] = ()
    for line in text.split("\n"):
        pattern, *owners = line.partition("#")[0].split() or [""]
        if pattern and re.match(_expression(pattern), path):
            found = tuple(owners)
    return found


def _expression(pattern: str) -> str:
    """Return gitignore's pattern as an expression, for what GitHub reads: `**`, `*`, `?`, `/`."""
    anchored = "/" in pattern.rstrip("/")
    body = "".join(
        {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
        for part in re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/"))
        if part
    )
    end = "/.+" if pattern.endswith("/") else "(?:/.+)?"
    # `docs/*` is one level: GitHub Docs, "About code owners".
    if pattern.endswith("/*"):
        end = ""
    return f"(?:{'' if anchored else '(?:.*/)?'}{body}{end})\\Z"
