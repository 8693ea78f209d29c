"""Read the releases of a repository: folders below profiles/releases/."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer, TreeError
from trainyard.plainfile import NotRegularError, read_regular
from trainyard.profiles.inherited import EXTENDS, whole
from trainyard.rules.release.changed_release import RULE as CHANGED_RELEASE
from trainyard.rules.release.unusable_release import RULE as UNUSABLE_RELEASE
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Plain, ReleaseFolder, Source

RELEASE, PLURALS = "release.yaml", "plurals.yaml"
MANIFEST = re.compile(
    r"schemas/[a-z0-9]([a-z0-9.-]{0,100}[a-z0-9])?/[a-z0-9]{1,63}_[a-z0-9]{1,20}[.]json"
)
_BESIDE = frozenset({RELEASE, PLURALS, "source.json", "go.mod", "go.sum"})

MOST_FILES = 200
LARGEST_FILE = 1 << 20
LARGEST_FOLDER = 8 << 20
"""Bytes; the largest release that is shipped has 44 files and 400 KB."""


class UnusableError(Exception):
    """A folder can't be the release that its name says."""


@dataclass(slots=True)
class Releases:
    """All releases, by name.

    Args:
        whole: fields of each with those of the one that it extends; without a value where a
            release of the repository can't be used.
        plurals: of the kinds of each.
        own: the file of each release of the repository, as it is.
        folders: of those of the repository that can be used.
    """

    whole: dict[str, Source]
    plurals: dict[str, Source]
    own: dict[str, Source] = field(default_factory=dict)
    folders: dict[str, ReleaseFolder] = field(default_factory=dict)


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the digest of a release's folder: that of the list that `sha256sum` prints, sorted.

    Args:
        files: content by path below the folder.
    """
    lines = (
        f"{hashlib.sha256(content).hexdigest()}  {path}\n"
        for path, content in sorted(files.items())
    )
    return f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"


def read_folder(root: Path, name: str) -> dict[str, bytes]:
    """Return the content of each file of a release by its path below the release's folder.

    Hidden files belong to editors and Git: they are passed over.

    Raises:
        UnusableError: something in it is not a file of a release, or too large.
        TreeError: a file can't be read.
    """
    files: dict[str, bytes] = {}
    left = LARGEST_FOLDER
    for path in _paths(root / "releases" / name):
        if path not in _BESIDE and not MANIFEST.fullmatch(path):
            raise UnusableError(f"`{path}` is not a file of a release")
        if len(files) == MOST_FILES:
            raise UnusableError(f"it has more than {MOST_FILES} files")
        files[path] = _content(root, f"releases/{name}/{path}", path)
        left -= len(files[path])
        if left < 0:
            raise UnusableError(f"its files have more than {LARGEST_FOLDER >> 20} MiB")
    return files


def _paths(folder: Path) -> Iterator[str]:
    """Yield the paths of what is in a folder, links included, and those of no folder of it."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        links = [each for each in folders if (Path(place) / each).is_symlink()]
        for name in sorted((*names, *links)):
            if not name.startswith("."):
                yield (Path(place) / name).relative_to(folder).as_posix()


def _content(root: Path, path: str, shown: str) -> bytes:
    try:
        content = read_regular(root, path, LARGEST_FILE)
    except NotRegularError as problem:
        raise UnusableError(f"`{shown}` is not a regular file") from problem
    except OSError as problem:
        raise TreeError(f"{root / path}: {problem.strerror}") from problem
    if len(content) > LARGEST_FILE:
        raise UnusableError(f"`{shown}` is larger than {LARGEST_FILE >> 20} MiB")
    return content


def join(
    releases: Releases, folders: Mapping[str, Mapping[str, bytes]], digests: Plain
) -> Iterator[Diagnostic]:
    """Add the releases of a repository to all others, and yield why some can't be used.

    Args:
        releases: those that are shipped; those of the repository are added, whose own files are
            in `own` already.
        folders: content by path of each folder, by name of the release.
        digests: what the settings state under `releases`; None where they can't be read.
    """
    shipped = frozenset(releases.whole)
    stated = {name: source.value for name, source in releases.whole.items()}
    for name, files in folders.items():
        source = releases.own[name]
        if found := _fault(name, files, source, shipped, digests):
            yield found
        elif isinstance(source.value, dict):
            stated[name] = source.value
    for name, source in sorted(releases.own.items()):
        if name not in shipped:
            releases.whole[name] = releases.plurals[name] = Source(source.file, source.content)
            if name in stated:
                yield from _add(releases, name, stated, folders)


def _fault(
    name: str, files: Mapping[str, bytes], source: Source, shipped: frozenset[str], digests: Plain
) -> Diagnostic | None:
    """Return why the folder of a release can't be used; None when nothing speaks against it."""
    at = Pointer(source.file)
    if name in shipped:
        message = f"release {name}: Trainyard has a release of this name"
        return UNUSABLE_RELEASE.at(at, message, hint="Give the folder another name.")
    if not isinstance(digests, dict):
        return None
    actual, wanted = digest_of(files), digests.get(name)
    if actual == wanted:
        return None
    states = f"profiles/trainyard.yaml states {wanted}" if wanted else "no digest is stated for it"
    message = f"the folder of release {name} has the digest {actual}, and {states}"
    return CHANGED_RELEASE.at(at, message)


def _add(
    releases: Releases,
    name: str,
    stated: Mapping[str, Mapping[str, Any]],
    folders: Mapping[str, Mapping[str, bytes]],
) -> Iterator[Diagnostic]:
    """Add a release of the repository, or yield why it can't be used.

    What it extends may be missing, be unusable, or extend it in turn; or plurals can't be read.
    """
    source = releases.own[name]
    try:
        *own, base = chain(name, stated, releases.own)
        plurals = dict(releases.plurals[base].value)
        for each in reversed(own):
            plurals |= _plurals(folders[each].get(PLURALS, b"{}\n"))
    except UnusableError as problem:
        yield UNUSABLE_RELEASE.at(Pointer(source.file) / EXTENDS, f"release {name}: {problem}")
        return
    schemas: dict[str, bytes] = {}
    for each in reversed(own):
        schemas |= {path: body for path, body in folders[each].items() if MANIFEST.match(path)}
    releases.whole[name] = replace(source, value=whole(name, stated))
    releases.plurals[name] = Source(source.file, b"", plurals)
    digest = digest_of(folders[name])
    releases.folders[name] = ReleaseFolder(base, tuple(own[1:]), digest, schemas)


def chain(
    name: str, stated: Mapping[str, Mapping[str, Any]], own: Mapping[str, object]
) -> list[str]:
    """Return the names of a release, of the one that it extends, and so on to one that is shipped.

    Raises:
        UnusableError: one extends no release that can be used, or itself.
    """
    names = [name]
    while names[-1] in own:
        base = stated[names[-1]].get(EXTENDS)
        if not isinstance(base, str) or base not in stated:
            raise UnusableError(f"`extends` names no release that can be used: {base!r}")
        if base in names:
            raise UnusableError(f"`extends` leads back to {base}")
        names.append(base)
    return names


def _plurals(content: bytes) -> dict[str, str]:
    """Return plurals by kind with its group.

    Raises:
        UnusableError: the file has another form.
    """
    source, found = read(PLURALS, content)
    if found:
        raise UnusableError(f"`{PLURALS}` can't be read: {found[0].message}")
    for kind, plural in source.value.items():
        if not isinstance(plural, str) or not re.fullmatch(r"[a-z0-9-]{1,63}", plural):
            raise UnusableError(f"`{PLURALS}` has no plural for {kind}")
    return dict(source.value)
