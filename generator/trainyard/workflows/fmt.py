"""Write the profiles of a repository in the one style, each file whole."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.profiles.discover import ProfileFile, discover
from trainyard.profiles.read import read_profile
from trainyard.rules.shape.unformatted import RULE as UNFORMATTED
from trainyard.scaffold.install import overwrite
from trainyard.scaffold.style import styled
from trainyard.yaml_io.source import Source


@dataclass(frozen=True, slots=True)
class Styles:
    """The profiles and their text in the style.

    Args:
        sources: the profiles looked at, by their names in diagnostics.
        changed: new content of those that lack the style, by the same names.
        diagnostics: why the others that lack it are left alone.
    """

    sources: Mapping[str, Source]
    changed: Mapping[str, bytes]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def unformatted(self) -> tuple[Diagnostic, ...]:
        """One finding for each profile that would change, at its first line that would."""
        message = "the profile does not have the style of `trainyard fmt`"
        return tuple(
            UNFORMATTED.at(Pointer(file, line=self._first(file), column=1), message)
            for file in self.changed
        )

    def _first(self, file: str) -> int:
        """Return the number of the first line that would change."""
        old = self.sources[file].content.splitlines()
        new = self.changed[file].splitlines()
        for number, (line, new_line) in enumerate(zip(old, new, strict=False), 1):
            if line != new_line:
                return number
        return len(old)


def check_style(root: Path, wanted: Collection[str] = ()) -> Styles:
    """Return the profiles below a folder and their text in the style; nothing is written.

    Args:
        root: the profiles.
        wanted: the only files to look at, as diagnostics name them, e.g.
            ``profiles/teams/nlp.yaml``; all when empty.

    Raises:
        TreeError: a file can't be read.
    """
    sources, changed = {}, {}
    found: list[Diagnostic] = []
    for item in _wanted(root, wanted):
        if isinstance(item, Diagnostic):
            found.append(item)
            continue
        source, faults = read_profile(root, item)
        new, reasons = (source.content, faults) if faults else styled(source)
        sources[item.shown] = source
        found += reasons
        if new != source.content:
            changed[item.shown] = new
    return Styles(sources, changed, tuple(found))


def _wanted(root: Path, wanted: Collection[str]) -> Iterator[ProfileFile | Diagnostic]:
    for item in discover(root):
        if isinstance(item, ProfileFile) and item.kind == "releases":
            # Its digest is of the bytes that were reviewed.
            continue
        file = item.at.file if isinstance(item, Diagnostic) else item.shown
        if not wanted or file in wanted:
            yield item


def write_style(root: Path, styles: Styles) -> None:
    """Write the profiles that lack the style.

    Raises:
        TreeError: a file can't be written, or changed since it was read; each file is whole.
    """
    files = {}
    for file, new in styles.changed.items():
        files[file.removeprefix("profiles/")] = (styles.sources[file].content, new)
    if files:
        overwrite(root, files)
