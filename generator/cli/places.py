"""Where a finding stands, as the user opens it: the real folders, line and column, and the text there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from generator.diagnostics import Pointer
from generator.dialect.credentials import masked
from generator.dialect.source import Mark, Source


@dataclass(frozen=True, slots=True)
class Place:
    """A span in a file.

    Args:
        file: as the user would name it from here.
        mark: None for a file that was not read, or is not there.
        text: the line of the span, without what looks like a credential.
    """

    file: str
    mark: Mark | None = None
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.mark.line}:{self.mark.column}" if self.mark else self.file

    @property
    def order(self) -> tuple[str, int, int]:
        """File, line and column."""
        return (self.file, self.mark.line, self.mark.column) if self.mark else (self.file, 0, 0)


@dataclass(frozen=True, slots=True)
class Places:
    """Turns places into lines and columns.

    Args:
        sources: what was read, by logical name.
        folders: the real folder behind the first part of a logical name, ``profiles`` or ``overlays``.
    """

    sources: Mapping[str, Source]
    folders: Mapping[str, str]

    def find(self, at: Pointer) -> Place:
        """Return where a pointer leads."""
        source = self.sources.get(at.file)
        if source is None or not source.content:
            return Place(self.shown(at.file))
        mark = source.mark(at)
        lines = source.lines
        return Place(self.shown(at.file), mark, _masked(lines[mark.line - 1]) if mark.line <= len(lines) else "")

    def shown(self, file: str) -> str:
        """Return a logical name with the real folder in it."""
        top, slash, rest = file.partition("/")
        return f"{self.folders.get(top, top)}{slash}{rest}"

    @property
    def profiles(self) -> int:
        """How many of the user's own files were read."""
        return sum(bool(source.content) for file, source in self.sources.items() if file.startswith("profiles/"))


@lru_cache(maxsize=1024)
def _masked(line: str) -> str:
    """Return a line without what looks like a credential; one long line can have thousands of findings."""
    return masked(line)


def shown_folder(folder: Path) -> str:
    """Return a folder as seen from here, with forward slashes: an absolute path differs from machine to machine."""
    return Path(os.path.relpath(folder)).as_posix()
