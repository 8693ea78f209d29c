"""The lockfile of a cluster's folder: its files, and each number ever given to a team.

Only a file that a lockfile lists is ever deleted, and only while it still holds what was written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from trainyard.diagnostics import TreeError
from trainyard.model import names
from trainyard.model.holding import Given, Holding
from trainyard.model.ids import Ids, read_ids
from trainyard.model.link import LINKS
from trainyard.plainfile import read_regular
from trainyard.tree.conflict import is_conflict, sides

LOCKFILE = "trainyard.lock"
"""Name of the lockfile, at the top of ``overlays/<cluster>/``."""

"""Of a lockfile; one of 1,000 files has 0.2 MB."""

FORMAT = 3
"""Version of the lockfile's form; a higher one was written by a newer Trainyard. The first
remembers no numbers, the second no user ids."""


@dataclass(frozen=True, slots=True)
class LockedFile:
    """One generated file.

    Args:
        sha256: of its content, 64 lowercase hexadecimal digits.
        origins: the profile files it came from, sorted, as the user knows them.
    """

    sha256: str
    origins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lock:
    """The content of a lockfile.

    Args:
        tool: version of Trainyard that wrote the folder.
        release: name of the release it was generated for.
        files: by path relative to the cluster's folder, with forward slashes.
        holdings: each number ever given on the cluster's fabrics, sorted.
        ids: user ids ever given to its namespaces, sorted.
    """

    tool: str
    release: str
    files: Mapping[str, LockedFile]
    holdings: tuple[Holding, ...] = ()
    ids: tuple[Ids, ...] = ()

    @property
    def numbers(self) -> tuple[Holding | Ids, ...]:
        """Numbers and user ids that it remembers."""
        return (*self.holdings, *self.ids)

    @property
    def units(self) -> frozenset[str]:
        """Teams that have files."""
        return frozenset(path.split("/")[1] for path in self.files if path.startswith("teams/"))

    @property
    def teams(self) -> frozenset[str]:
        """Teams that have files, or a number now; a tombstone keeps its numbers."""
        return self.units | {held.team for held in self.holdings if not held.former}

    @property
    def remembered(self) -> frozenset[str]:
        """Names of teams that were ever on the cluster, as far as their numbers show it."""
        numbered = {held.team for held in self.holdings}
        namespaces = {ids.namespace.removeprefix(names.TEAM_PREFIX) for ids in self.ids}
        return self.teams | numbered | namespaces


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's content as lowercase hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def is_inside(path: str) -> bool:
    """Return whether a path is relative, normal and portable, so that it stays in its folder."""
    if "\\" in path or "\0" in path:
        return False
    return {"", ".", ".."}.isdisjoint(path.split("/"))


def make_lock(
    files: Mapping[str, bytes],
    origins: Mapping[str, Iterable[str]],
    *,
    tool: str,
    release: str,
    given: Given = ((), ()),
) -> Lock:
    """Return the lock of one cluster's folder.

    Args:
        files: content by path relative to the cluster's folder, without the lockfile.
        origins: the profile files behind each path; a path without any is listed with none.
        tool: version of Trainyard.
        release: name of the release.
        given: each number ever given on the cluster's fabrics, and user ids ever given to its
            namespaces.
    """
    holdings, ids = given
    entries = {}
    for path, content in sorted(files.items()):
        entries[path] = LockedFile(digest(content), tuple(sorted(origins.get(path, ()))))
    return Lock(tool, release, entries, tuple(sorted(holdings)), tuple(sorted(ids)))


def lock_bytes(lock: Lock) -> bytes:
    """Return the lockfile as JSON with one entry a line, so that Git merges teams cleanly."""
    allocations = map(_allocation, sorted(lock.holdings))
    ids = map(_namespace_ids, sorted(lock.ids))
    files = []
    for path, file in sorted(lock.files.items()):
        entry = json.dumps({"sha256": file.sha256, "from": file.origins})
        files.append(f"{json.dumps(path)}: {entry}")
    parts = {
        "version": str(FORMAT),
        "tool": json.dumps(lock.tool),
        "release": json.dumps(lock.release),
        "allocations": f"[{_lines(allocations)}]",
        "uids": f"[{_lines(ids)}]",
        "files": f"{{{_lines(files)}}}",
    }
    body = ",\n".join(f'  "{key}": {value}' for key, value in parts.items())
    return f"{{\n{body}\n}}\n".encode()


def _lines(entries: Iterable[str]) -> str:
    body = ",\n".join(f"    {entry}" for entry in entries)
    return f"\n{body}\n  " if body else ""


def _allocation(holding: Holding) -> str:
    former = {"former": True} if holding.former else {}
    whose = {"fabric": holding.fabric, "team": holding.team}
    return json.dumps({**whose, **holding.entry, **former})


def _namespace_ids(ids: Ids) -> str:
    former = {"former": True} if ids.former else {}
    return json.dumps({"namespace": ids.namespace, **ids.entry, **former})


def read_lock(folder: Path) -> Lock | None:
    """Return the lock of a cluster's folder, or ``None`` when it has none.

    Raises:
        TreeError: the lockfile can't be read, is broken, is from a newer Trainyard, or lists a path
            outside its folder.
    """
    place = folder / LOCKFILE
    try:
        content = read_regular(folder, LOCKFILE)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TreeError(f"{place} can't be read: {error.strerror}") from error
    return parse_lock(content, place)


def parse_lock(content: bytes, place: Path) -> Lock:
    """Return the lock that a lockfile's content describes.

    Raises:
        TreeError: it is broken, is from a newer Trainyard, or lists a path outside its folder.
    """
    try:
        return _parse(content)
    except TreeError as error:
        raise TreeError(f"{place} {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TreeError(
            f"{place} is broken; take either side of it from Git and run `trainyard generate` again"
        ) from error


@lru_cache(maxsize=64)
def _parse(content: bytes) -> Lock:
    """Return a lock.

    Several steps of a command read the same lockfile, of 10,000 lines for 50 teams, and both sides
    of a change have most of them in common: a content is parsed once.
    """
    if is_conflict(content):
        return _of_both(*map(_parse, sides(content)))
    document = json.loads(content)
    version = document["version"]
    if isinstance(version, int) and version > FORMAT:
        raise TreeError(
            f"was written by a newer Trainyard ({document.get('tool')}); upgrade this one"
        )
    if version not in {1, 2, FORMAT}:
        raise ValueError(version)
    files = _files(document["files"])
    holdings = () if version == 1 else tuple(sorted(map(_holding, document["allocations"])))
    ids = () if version in {1, 2} else tuple(sorted(map(_ids, document["uids"])))
    return Lock(str(document["tool"]), str(document["release"]), files, holdings, ids)


def _of_both(ours: Lock, theirs: Lock) -> Lock:
    """Return what either side has written and given: `generate` then writes one lockfile for both.

    A number that is one side's is never given again, whatever becomes of the other side.
    """
    held = {holding.number: holding for holding in (*theirs.holdings, *ours.holdings)}
    ids = {(held.namespace, held.first): held for held in (*theirs.ids, *ours.ids)}
    return replace(
        ours,
        files={**theirs.files, **ours.files},
        holdings=tuple(sorted(held.values())),
        ids=tuple(sorted(ids.values())),
    )


def _files(entries: Mapping[str, Any]) -> dict[str, LockedFile]:
    files = {}
    for path, entry in entries.items():
        if not is_inside(str(path)):
            raise TreeError(
                f"lists {path!r}, which leaves its folder; nothing is written or deleted"
            )
        origins = tuple(map(str, entry["from"]))
        files[str(path)] = LockedFile(str(entry["sha256"]), origins)
    return files


def _holding(entry: Any) -> Holding:
    (link,) = (link for link in LINKS.values() if link.field in entry)
    return Holding(
        fabric=str(entry["fabric"]),
        team=str(entry["team"]),
        field=link.field,
        segment=int(str(entry[link.field]), 0),
        addresses=IPv4Network(str(entry["addresses"])),
        since=str(entry.get("since", "")),
        former=bool(entry.get("former")),
    )


def _ids(entry: Any) -> Ids:
    line = {key: str(entry[key]) for key in ("range", "level", "since") if key in entry}
    return read_ids(str(entry["namespace"]), line, former=bool(entry.get("former")))
