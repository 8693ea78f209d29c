"""What a drafted profile leaves open: comments that say what to choose, at their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.rules.shape.choice_open import RULE as CHOICE_OPEN
from trainyard.yaml_io.source import Source, text_lines

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


def open_choices(sources: Iterable[Source]) -> Iterator[Diagnostic]:
    """Yield a finding for each choice that is open: no schema sees a comment."""
    for source in sources:
        for line, column, text in choices(source.content):
            yield CHOICE_OPEN.at(Pointer(source.file, line=line, column=column), text)
