"""A profile as plain data plus the place of everything in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from trainyard.diagnostics import Pointer, Step

Plain = Any
"""Plain data: dict, list, str, int, bool or None, as the reader makes them (never float, date or
tuple)."""


class Ambiguous(str):
    """Text that YAML readers take for different values; the reader has reported it already."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A half-open span of text on one line: 1-based line and columns, columns in code points."""

    line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Source:
    """One profile file, read.

    Args:
        file: path as shown to the user, forward slashes.
        content: the bytes read, once.
        value: the document as plain data; ``None`` when it could not be read or is left out.
        marks: place of each value by its path.
        key_marks: place of each mapping key by the path of its value.
    """

    file: str
    content: bytes
    value: Plain = None
    marks: Mapping[tuple[Step, ...], Mark] = field(default_factory=dict)
    key_marks: Mapping[tuple[Step, ...], Mark] = field(default_factory=dict)
    _spans: dict[tuple[int, int], Mark] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def lines(self) -> list[str]:
        """The text without BOM, split at LF and CRLF; undecodable bytes replaced."""
        return text_lines(self.content)

    def mark(self, at: Pointer) -> Mark:
        """Return the span of a place, or of its nearest ancestor that exists."""
        if at.line:
            return self._begins().get((at.line, at.column), Mark(at.line, at.column, at.column + 1))
        path = at.path
        if at.on_key and path in self.key_marks:
            return self.key_marks[path]
        while path and path not in self.marks:
            path = path[:-1]
        if path != at.path and path in self.key_marks:
            return self.key_marks[path]
        return self.marks.get(path, Mark(1, 1, 2))

    def _begins(self) -> Mapping[tuple[int, int], Mark]:
        """Return the spans by line and column, collected once for thousands of findings."""
        if not self._spans:
            for marks in (self.key_marks, self.marks):
                for mark in marks.values():
                    self._spans.setdefault((mark.line, mark.column), mark)
        return self._spans


@lru_cache(maxsize=64)
def text_lines(content: bytes) -> list[str]:
    """Return the text without BOM, split at LF and CRLF; undecodable bytes replaced."""
    return (
        content.decode("utf-8", errors="replace")
        .removeprefix("\ufeff")
        .replace("\r\n", "\n")
        .split("\n")
    )


NOTHING: Mapping[str, Source] = MappingProxyType({})
"""No source."""


@dataclass(frozen=True, slots=True)
class ReleaseFolder:
    """The folder of a release of the repository.

    Args:
        base: name of the shipped release at the end of what it extends; empty if there is none.
        extends: names of the releases of the repository on the way there.
        digest: of all its files, e.g. ``sha256:01..``.
        schemas: content by path, e.g. ``schemas/v1/namespace_v1.json``; with those of the releases
            that it extends.
    """

    base: str
    extends: tuple[str, ...]
    digest: str
    schemas: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Profiles:
    """Every file that was read, by kind and name (the file's name without ending).

    Args:
        settings, allocations, waivers: the files at the top; an empty source when absent.
        presets: shipped with the package, read by the same reader.
        releases: shipped and of the repository, each with the fields of the one that it extends.
        plurals: of each release: kind -> its name in the API's paths.
        own_releases: the file of each release of the repository, as it is.
        release_folders: of the same releases.
        other_releases: versions of products that no release is for; shipped too.
        components: the ``kustomization.yaml`` of each hand-written Component.
        component_objects: Component -> file -> Kubernetes objects in it.
        component_files: the same files as they were read, for the reporter; their value is the list
            of documents.
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
    plurals: Mapping[str, Source]
    own_releases: Mapping[str, Source]
    release_folders: Mapping[str, ReleaseFolder]
    other_releases: Source

    def sources(self) -> Mapping[str, Source]:
        """Return every source by file, for the reporter."""
        shipped = (*self.presets.values(), *self.releases.values())
        profiles = {source.file: source for source in (*shipped, *self.own())}
        return {**profiles, **self.component_files}

    def own(self) -> Iterator[Source]:
        """Yield the sources that are not shipped."""
        yield from (self.settings, self.allocations, self.waivers)
        for kind in (
            self.hardware,
            self.clusters,
            self.compliance,
            self.runtimes,
            self.teams,
            self.components,
            self.own_releases,
        ):
            yield from kind.values()

    def without(self, files: Collection[str]) -> Profiles:
        """Return the profiles without some files: their names stay, their values are ``None``.

        Args:
            files: below ``profiles/``; also those that were not read, e.g. for their bad names.
        """
        left_out = {file: Source(file, b"") for file in files}
        rest: dict[str, Any] = {
            "components": {**self.components, **_of_kind("components", left_out)}
        }
        for kind in ("hardware", "clusters", "compliance", "runtimes", "teams"):
            sources = getattr(self, kind)
            read = {name: left_out.get(source.file, source) for name, source in sources.items()}
            rest[kind] = {**_of_kind(kind, left_out), **read}
        rest |= self._releases_without(left_out)
        for kind in ("settings", "allocations", "waivers"):
            rest[kind] = left_out.get(getattr(self, kind).file, getattr(self, kind))
        return replace(self, **rest)

    def _releases_without(self, left_out: Mapping[str, Source]) -> dict[str, Mapping[str, Source]]:
        """Return the releases without some files, and without those that extend these."""
        gone = {name for name, each in self.own_releases.items() if each.file in left_out}
        for name, folder in self.release_folders.items():
            if not gone.isdisjoint(folder.extends):
                gone.add(name)
        empty = {name: Source(self.own_releases[name].file, b"") for name in gone}
        # One without a folder may have the name of a release that is shipped.
        unusable = {name: empty[name] for name in gone & self.release_folders.keys()}
        return {
            "releases": {**self.releases, **unusable},
            "own_releases": {**self.own_releases, **empty},
        }


def _of_kind(kind: str, sources: Mapping[str, Source]) -> dict[str, Source]:
    """Return the sources below a folder of profiles by the names that they would have."""
    paths = {PurePosixPath(file).parts: source for file, source in sources.items()}
    return {
        PurePosixPath(parts[2]).stem: source for parts, source in paths.items() if parts[1] == kind
    }
