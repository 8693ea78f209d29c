"""Plan the upgrade of a cluster to another release: the comparison after the mechanical edits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.change.diff import Diff, Wanted, diff
from trainyard.generation.generate import Target
from trainyard.model.ids import UIDS
from trainyard.profiles.read import load
from trainyard.proofs import UNKNOWN, Proofs
from trainyard.rules.change.runtime_edited_in_place import RULE as RUNTIME_EDITED_IN_PLACE
from trainyard.rules.isolation.uids_without_ranges import RULE as UIDS_WITHOUT_RANGES
from trainyard.scaffold.edit import with_value, without
from trainyard.scaffold.install import overwrite
from trainyard.workflows.known_releases import release_of
from trainyard.yaml_io.source import Profiles, Source

_OLDER = re.compile(r"(?P<family>.+)-v[0-9]+")
_PROFILES = "profiles/"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What an upgrade does, and the profile edits for it.

    Args:
        change: from the newest commit to the work tree with the edits.
        edits: old and new content by path below the profiles; nothing for a cluster that has the
            release.
    """

    change: Diff
    edits: Mapping[str, tuple[bytes, bytes]]


def plan_upgrade(
    place: Target, wanted: Wanted, cluster: str, release: str, proofs: Proofs = UNKNOWN
) -> Upgrade:
    """Return what the upgrade of a cluster does; nothing is written.

    Args:
        place: as `diff` takes it.
        wanted: as `diff` takes it; its edits are not looked at.
        cluster: its name.
        release: name of the one that it gets.
        proofs: of earlier commands.

    Raises:
        ValueError: there is no such cluster, or no such release.
        TreeError: as `diff`; or a profile can't be edited in its form.
        ToolError: as `diff`.
    """
    read, _ = load(place.root)
    release_of(read, release)
    if cluster not in read.clusters:
        raise ValueError(f"there is no cluster `{cluster}`")
    edited = dict(_on_release(read.clusters[cluster], release))
    while True:
        now = {path: source.content for path, source in edited.items()}
        change = diff(place, replace(wanted, edited=now), proofs)
        more = dict(_mended(change, cluster, edited))
        if not more:
            break
        edited |= more
    sources = read.sources()
    edits = {path: (sources[_PROFILES + path].content, new) for path, new in now.items()}
    # The tree is generated after the edits: that it is an older one is no news.
    return Upgrade(replace(change, stale=0), edits)


def write_upgrade(root: Path, upgrade: Upgrade) -> None:
    """Write the edits.

    Raises:
        TreeError: a profile can't be written, or changed since it was read; each file is whole.
    """
    if upgrade.edits:
        overwrite(root, upgrade.edits)


def _on_release(source: Source, release: str) -> Iterator[tuple[str, Source]]:
    """Yield a cluster's profile on another release, whose versions it gets; none if it has it."""
    if source.value and source.value.get("release", release) != release:
        edited = with_value(source, ("release",), release)
        if "installed" in edited.value:
            edited = without(edited, ("installed",))
        yield _path(source), edited


def _mended(
    change: Diff, cluster: str, known: Mapping[str, Source]
) -> Iterator[tuple[str, Source]]:
    """Yield the profiles that further edits mend, once each."""
    profiles = change.generation.checked.profiles
    for found in change.diagnostics:
        path = found.at.file.removeprefix(_PROFILES)
        if path in known:
            continue
        if found.rule == UIDS_WITHOUT_RANGES.id and found.at.path[0] == cluster:
            yield path, without(profiles.allocations, (cluster, UIDS))
        elif found.rule == RUNTIME_EDITED_IN_PLACE.id and _is_newest(profiles, found.at.file):
            runtime = profiles.sources()[found.at.file]
            yield path, with_value(runtime, ("version",), runtime.value.get("version", 1) + 1)


def _is_newest(profiles: Profiles, file: str) -> bool:
    """Return whether a runtime is no older version beside a newer one, which can't be raised."""
    older = _OLDER.fullmatch(Path(file).stem)
    return older is None or older["family"] not in profiles.runtimes


def _path(source: Source) -> str:
    """Return the path of a profile below the profiles."""
    return source.file.removeprefix(_PROFILES)
