"""Exit codes: the same for every format, so that a script never has to read what was printed."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended."""

    FINE = 0
    FINDINGS = 1
    USAGE = 2
    NO_INPUT = 3
    TOOL = 4
    IO = 5
    BUG = 70
    INTERRUPTED = 130


class NoInput(Exception):  # noqa: N818 - it is the state of the folder, and no failure of ours
    """There is nothing to work on, which must not look green."""
