"""A profile as plain data plus the place of everything in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from generator.diagnostics import Pointer, Step

Plain = Any
"""Plain data: dict, list, str, int, bool or None, as the reader makes them (never float, date or tuple)."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A half-open span of text on one line; line and columns are 1-based, columns in code points."""

    line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Source:
    """One profile file, read.

    Args:
        file: path as shown to the user, forward slashes.
        content: the bytes read, once.
        value: the document as plain data; ``None`` when it could not be read.
        marks: place of each value by its path.
        key_marks: place of each mapping key by the path of its value.
    """

    file: str
    content: bytes
    value: Plain = None
    marks: Mapping[tuple[Step, ...], Mark] = field(default_factory=dict)
    key_marks: Mapping[tuple[Step, ...], Mark] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """The text without BOM, split at LF and CRLF; undecodable bytes replaced."""
        return self.content.decode("utf-8", errors="replace").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")

    def mark(self, at: Pointer) -> Mark:
        """Return the span of a place, or of its nearest ancestor that exists."""
        if at.line:
            spans = (mark for marks in (self.key_marks, self.marks) for mark in marks.values())
            begins = (mark for mark in spans if (mark.line, mark.column) == (at.line, at.column))
            return next(begins, Mark(at.line, at.column, at.column + 1))
        path = at.path
        if at.on_key and path in self.key_marks:
            return self.key_marks[path]
        while path and path not in self.marks:
            path = path[:-1]
        if path != at.path and path in self.key_marks:
            return self.key_marks[path]
        return self.marks.get(path, Mark(1, 1, 2))


@dataclass(frozen=True, slots=True)
class Profiles:
    """Every file that was read, by kind and name (the file's name without ending).

    Args:
        settings, allocations, waivers: the files that stand alone; an empty source when absent.
        presets, releases: shipped with the package, read by the same reader.
        components: the ``kustomization.yaml`` of each hand-written Component.
        component_objects: Component -> file -> Kubernetes objects in it.
        component_files: the same files as they were read, for the reporter; their value is the list of documents.
    """

    settings: Source
    allocations: Source
    waivers: Source
    hardware: Mapping[str, Source]
    clusters: Mapping[str, Source]
    compliance: Mapping[str, Source]
    runtimes: Mapping[str, Source]
    teams: Mapping[str, Source]
    components: Mapping[str, Source]
    component_objects: Mapping[str, dict[str, tuple[dict[str, Any], ...]]]
    component_files: Mapping[str, Source]
    presets: Mapping[str, Source]
    releases: Mapping[str, Source]

    def sources(self) -> Mapping[str, Source]:
        """Return every source by file, for the reporter."""
        own = (self.hardware, self.clusters, self.compliance, self.runtimes, self.teams, self.components)
        kinds = (*own, self.presets, self.releases)
        alone = (self.settings, self.allocations, self.waivers)
        profiles = {source.file: source for source in (*alone, *(each for kind in kinds for each in kind.values()))}
        return {**profiles, **self.component_files}
