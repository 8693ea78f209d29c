"""Findings as Markdown: the body of a comment, or the summary of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from trainyard.cli.findings import Block, Findings, blocks, counts, summary
from trainyard.cli.forms.fence import fenced
from trainyard.diagnostics import Severity

LIMIT = 60_000
"""Bytes; a comment of GitHub may have 65,536 characters."""
_REST = 500
"""Bytes for what follows the blocks."""


def report(command: str, found: Findings) -> str:
    """Return the findings of a command as a whole comment."""
    return section(command, f"trainyard {command}", found, LIMIT)


def section(command: str, title: str, found: Findings, limit: int) -> str:
    """Return the totals, then whole blocks of findings as long as they fit, errors first.

    All text of profiles is in blocks of code.

    Args:
        command: that shows all findings.
        title: of the section.
        found: the findings.
        limit: bytes.
    """
    head = f"### {title}\n\n**{summary(found)}**\n"
    shown, left_out = _fitting(
        blocks(found, colour=False),
        limit - len(head.encode()) - _REST,
    )
    rest = counts(left_out)
    more = [f"Too long for a comment, shown by `trainyard {command}`: {rest}.\n"] if rest else []
    return "\n".join([head, *map(_fenced, shown), *more]).rstrip("\n")


def _fitting(ordered: Iterable[Block], size: int) -> tuple[list[Block], Counter[Severity]]:
    """Return the blocks that fit into a number of bytes, and how many findings the others have."""
    shown: list[Block] = []
    left_out: Counter[Severity] = Counter()
    for block in ordered:
        length = len(_fenced(block).encode()) + 1
        if length <= size:
            size -= length
            shown.append(block)
        else:
            left_out[block.severity] += block.count
    return shown, left_out


def _fenced(block: Block) -> str:
    return f"{fenced(block.text, 'text')}\n"
