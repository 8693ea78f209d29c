"""Find the place of a finding as the user opens it: the real file, line, column and text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from trainyard.diagnostics import Pointer
from trainyard.yaml_io.credentials import masked
from trainyard.yaml_io.source import Mark, Source, text_lines


@dataclass(frozen=True, slots=True)
class Place:
    """A span in a file.

    Args:
        file: as the user would name it from here.
        mark: None for a file that was not read, or is not there.
        text: the line of the span, without what looks like a credential.
        absent: key that the file would have at its top and lacks; there is no line of it.
    """

    file: str
    mark: Mark | None = None
    text: str = ""
    absent: str = ""

    def __str__(self) -> str:
        if self.absent:
            return f"{self.file} (`{self.absent}` is not stated there)"
        return f"{self.file}:{self.mark.line}:{self.mark.column}" if self.mark else self.file

    @property
    def span(self) -> Mark:
        """The mark, of at least one column; the begin of the file where there is none."""
        if self.mark is None:
            return Mark(1, 1, 2)
        return replace(self.mark, end_column=max(self.mark.end_column, self.mark.column + 1))

    @property
    def order(self) -> tuple[str, int, int]:
        """File, line and column."""
        return (self.file, self.mark.line, self.mark.column) if self.mark else (self.file, 0, 0)


@dataclass(frozen=True, slots=True)
class Places:
    """Turns places into lines and columns.

    Args:
        sources: what was read, by logical name.
        folders: the real folder behind the first part of a logical name, ``profiles`` or
            ``overlays``.
    """

    sources: Mapping[str, Source]
    folders: Mapping[str, str]

    def find(self, at: Pointer) -> Place:
        """Return where a pointer leads."""
        source = self.sources.get(at.file)
        if source is None or not source.content:
            return Place(self.shown(at.file))
        if at.path and at.path[:1] not in source.marks and () in source.marks:
            return Place(self.shown(at.file), absent=str(at.path[0]))
        mark = source.mark(at)
        lines = _lines(source.content)
        return Place(
            self.shown(at.file), mark, lines[mark.line - 1] if mark.line <= len(lines) else ""
        )

    def shown(self, file: str) -> str:
        """Return a logical name with the real folder in it."""
        top, slash, rest = file.partition("/")
        return f"{self.folders.get(top, top)}{slash}{rest}"

    @property
    def profiles(self) -> list[str]:
        """The user's own files that were read, as the user would name them."""
        return sorted(
            self.shown(file)
            for file, source in self.sources.items()
            if file.startswith("profiles/") and source.content
        )


@lru_cache(maxsize=64)
def _lines(content: bytes) -> list[str]:
    """Return the lines of a file without what looks like a credential.

    The file is masked as a whole, since one line of a private key does not look like one; and once,
    since a file can have thousands of findings.
    """
    return masked("\n".join(text_lines(content))).split("\n")


def shown_folder(folder: Path) -> str:
    """Return a folder relative to the current one: an absolute path differs by machine."""
    return Path(os.path.relpath(folder)).as_posix()
