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
from trainyard.scaffold.edit import with_item, with_value, without
from trainyard.scaffold.install import overwrite, put
from trainyard.workflows.known_releases import release_of
from trainyard.yaml_io.reader import read as read_source
from trainyard.yaml_io.source import Profiles, Source

_OLDER = re.compile(r"(?P<family>.+)-v[0-9]+")
_PROFILES = "profiles/"


@dataclass(frozen=True, slots=True)
class Edit:
    """The content of a profile before and after; None for one that is new."""

    old: bytes | None
    new: bytes


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What an upgrade does, and the profile edits for it.

    Args:
        change: from the newest commit to the work tree with the edits.
        edits: of the profiles, by path below them; nothing for a cluster that has the release.
    """

    change: Diff
    edits: Mapping[str, Edit]


@dataclass(frozen=True, slots=True)
class Goal:
    """The upgrade that is wanted.

    Args:
        cluster: its name.
        release: name of the one that it gets.
        keep_until: ISO date until which teams on other clusters only keep the former versions of
            runtimes; empty if nobody does.
    """

    cluster: str
    release: str
    keep_until: str = ""


def plan_upgrade(place: Target, wanted: Wanted, goal: Goal, proofs: Proofs = UNKNOWN) -> Upgrade:
    """Return what the upgrade of a cluster does; nothing is written.

    Args:
        place: as `diff` takes it.
        wanted: as `diff` takes it; its edits are not looked at.
        goal: the upgrade.
        proofs: of earlier commands.

    Raises:
        ValueError: there is no such cluster or release, or the day is past.
        TreeError: as `diff`; or a profile can't be edited in its form.
        ToolError: as `diff`.
    """
    read, _ = load(place.root)
    release_of(read, goal.release)
    if goal.cluster not in read.clusters:
        raise ValueError(f"there is no cluster `{goal.cluster}`")
    edited = dict(_on_release(read.clusters[goal.cluster], goal.release))
    while True:
        now = {path: source.content for path, source in edited.items()}
        change = diff(place, replace(wanted, edited=now), proofs)
        more = _mended(change, goal, edited)
        if not more:
            break
        edited |= more
    _need_day_to_come(goal.keep_until, wanted.today or change.base.date)
    known = read.sources()
    edits = {}
    for path, new in now.items():
        old = known.get(_PROFILES + path)
        edits[path] = Edit(old.content if old else None, new)
    # The tree is generated after the edits: that it is an older one is not news.
    return Upgrade(replace(change, stale=0), edits)


def _need_day_to_come(day: str, today: str) -> None:
    """Refuse a day that is past.

    Raises:
        ValueError: it is past.
    """
    if day and day < today:
        raise ValueError(f"{day} is past: runtimes are kept until a day to come")


def write_upgrade(root: Path, upgrade: Upgrade) -> None:
    """Write the edits.

    Raises:
        TreeError: a profile can't be written, or changed since it was read; each file is whole.
    """
    added, changed = {}, {}
    for path, edit in upgrade.edits.items():
        if edit.old is None:
            added[path] = edit.new
        else:
            changed[path] = (edit.old, edit.new)
    if added:
        put(root, added, added)
    if changed:
        overwrite(root, changed)


def _on_release(source: Source, release: str) -> Iterator[tuple[str, Source]]:
    """Yield a cluster's profile on another release, whose versions it gets; none if it has it."""
    if source.value and source.value.get("release") != release:
        edited = with_value(source, ("release",), release)
        if "installed" in edited.value:
            edited = without(edited, ("installed",))
        yield _path(source), edited


def _mended(change: Diff, goal: Goal, known: Mapping[str, Source]) -> dict[str, Source]:
    """Return the profiles that further edits mend; each finding asks for one once."""
    profiles = change.generation.checked.profiles
    more: dict[str, Source] = {}
    for found in change.diagnostics:
        path = found.at.file.removeprefix(_PROFILES)
        if path in known:
            continue
        if found.rule == UIDS_WITHOUT_RANGES.id and found.at.path[0] == goal.cluster:
            more[path] = without(profiles.allocations, (goal.cluster, UIDS))
        elif found.rule == RUNTIME_EDITED_IN_PLACE.id and _is_newest(profiles, found.at.file):
            runtime = profiles.sources()[found.at.file]
            more[path] = with_value(runtime, ("version",), _version(runtime) + 1)
            if goal.keep_until:
                more |= _kept(profiles, runtime, goal, more)
    return more


def _kept(
    profiles: Profiles, runtime: Source, goal: Goal, edited: Mapping[str, Source]
) -> Iterator[tuple[str, Source]]:
    """Yield the former version of a runtime, and the teams that keep it beside the new one.

    A team on the cluster can't: the release changes the former version there, too.
    """
    name = Path(runtime.file).stem
    former = f"{name}-v{_version(runtime)}"
    keeping = []
    for source in profiles.teams.values():
        team = edited.get(_path(source), source)
        runtimes = team.value.get("runtimes", [])
        if name in runtimes and goal.cluster not in team.value.get("quota", {}):
            at = ("runtimes", runtimes.index(name))
            keeping.append((_path(team), with_item(team, at, former)))
    if keeping:
        ending = f'deprecated: {{end: "{goal.keep_until}"}}\n'.encode()
        file = f"{_PROFILES}runtimes/{former}.yaml"
        kept, _ = read_source(file, runtime.content.rstrip(b"\n") + b"\n" + ending)
        yield _path(kept), kept
    yield from keeping


def _version(runtime: Source) -> int:
    version: int = runtime.value.get("version", 1)
    return version


def _is_newest(profiles: Profiles, file: str) -> bool:
    """Return False for an older version beside a newer one, which can't be raised."""
    older = _OLDER.fullmatch(Path(file).stem)
    return older is None or older["family"] not in profiles.runtimes


def _path(source: Source) -> str:
    """Return the path of a profile below the profiles."""
    return source.file.removeprefix(_PROFILES)
