"""What a drafted profile leaves open: comments that say what to choose, at their places."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.yaml_io.source import text_lines

MARK = "# choose: "
"""What such a comment begins with. It stands in place of the value, which nobody guesses."""


def choices(content: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield line and column of each choice that is open in a file, and what to choose."""
    if MARK.encode() not in content:
        return
    for number, line in enumerate(text_lines(content), start=1):
        before, mark, text = line.partition(MARK)
        # Quoted text may have the mark too; a draft has it as the first thing of a line.
        if mark and not before.strip():
            yield number, len(before) + 1, text.strip()
