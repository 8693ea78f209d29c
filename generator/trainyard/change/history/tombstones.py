"""Find profiles and sync units that leave the committed tree without a tombstone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.generation.generate import Generation
from trainyard.model.platform import Site
from trainyard.model.quantity import counted
from trainyard.model.team import Team
from trainyard.rules.change.renamed_from_retired import RULE as RENAMED_FROM_RETIRED
from trainyard.rules.change.renamed_from_unknown import RULE as RENAMED_FROM_UNKNOWN
from trainyard.rules.delivery.profile_vanished import RULE as PROFILE_VANISHED
from trainyard.rules.delivery.unit_vanished import RULE as UNIT_VANISHED
from trainyard.tree.lockfile import Lock

_FIXES = {
    "teams": "Restore it. To end the team, merge `state: draining`, then `state: retired`: its "
    "numbers stay taken.",
    "clusters": "Restore it. To give up the cluster, also one that nothing was synced to, merge "
    "`state: draining`, then `state: retired`; remove the profile after that.",
    "hardware": "Restore it. To remove it, first remove the pools that have it, and merge.",
    "runtimes": "Restore it. To remove it, first remove it from every team's `runtimes`, merge, "
    "and wait until its jobs have ended.",
}
_LEAVE = (
    "Restore the quota. To leave the cluster, merge `states: {{{cluster}: draining}}`, then "
    "`states: {{{cluster}: retired}}`; remove the quota with the second or later."
)
_PROFILE = re.compile(r"profiles/(clusters|hardware|runtimes|teams)/[^/]+\.yaml")

_TEAM = "profiles/teams/{}.yaml"


def check_vanished(
    site: Site, lock: Lock, generation: Generation, renamed: Mapping[str, Team]
) -> Iterator[Diagnostic]:
    """Yield the profiles and units of a cluster that are gone without a tombstone or new name.

    Args:
        site: the cluster now.
        lock: of its committed tree.
        generation: without errors.
        renamed: teams that have a new name here, by their old names.
    """
    yield from _vanished_profiles(site, lock, generation, renamed)
    yield from _vanished_units(site, lock, generation, renamed)


def check_old_names(teams: Iterable[Team], locks: Collection[Lock]) -> Iterator[Diagnostic]:
    """Yield the new teams whose old name no committed tree remembers, or only as retired.

    Args:
        teams: of the profiles now.
        locks: of all clusters; without any, nothing is known of earlier teams.
    """
    present: set[str] = set()
    units: set[str] = set()
    remembered = {""}
    for lock in locks:
        present |= lock.teams
        remembered |= lock.remembered
        units |= lock.units
    for team in teams if locks else ():
        at = team.at / "renamedFrom"
        if team.name in present:
            continue
        if team.renamed_from not in remembered:
            message = f"no lockfile of the tree remembers a team `{team.renamed_from}`"
            yield RENAMED_FROM_UNKNOWN.at(at, message)
        elif team.renamed_from in present - units:
            message = (
                f"team {team.name} takes over the retired team `{team.renamed_from}`, with its "
                f"numbers, user ids and folder `{team.folder}`"
            )
            yield RENAMED_FROM_RETIRED.at(at, message)


def vanished_cluster(cluster: str, lock: Lock) -> Iterator[Diagnostic]:
    """Yield that a cluster with files in the tree has no profile; a retired one has none."""
    if not lock.files:
        return
    at = Pointer(f"profiles/clusters/{cluster}.yaml")
    files = counted(len(lock.files), "file")
    message = f"cluster `{cluster}` has no profile any more, but {files} in the tree"
    yield PROFILE_VANISHED.at(at, message, hint=_FIXES["clusters"])


def _vanished_profiles(
    site: Site, lock: Lock, generation: Generation, renamed: Mapping[str, Team]
) -> Iterator[Diagnostic]:
    """Yield the profiles that are gone and take files of the cluster with them."""
    known = {*generation.checked.profiles.sources(), *map(_TEAM.format, renamed)}
    gone: Counter[str] = Counter()
    for path in _leaving(site, lock, generation):
        for file in lock.files[path]:
            gone[file] += file not in known and _PROFILE.fullmatch(file) is not None
    for file, count in sorted(gone.items()):
        if count:
            files = counted(count, "file")
            message = f"the profile is gone, and {files} of cluster `{site.name}` with it"
            hint = _FIXES.get(file.split("/")[1], "") + _new_name(file, site, lock)
            yield PROFILE_VANISHED.at(Pointer(file), message, hint=hint)


def _new_name(file: str, site: Site, lock: Lock) -> str:
    """Return how to state that a new team is the one that is gone; empty when no team is new."""
    new = sorted({tenant.name for tenant in site.tenants} - lock.teams)
    old = file.removeprefix("profiles/teams/").removesuffix(".yaml")
    if _TEAM.format(old) != file or not new:
        return ""
    return f" If it is now called {' or '.join(new)}, add `renamedFrom: {old}` to that profile."


def _vanished_units(
    site: Site, lock: Lock, generation: Generation, renamed: Mapping[str, Team]
) -> Iterator[Diagnostic]:
    """Yield the teams whose profile is there and whose sync unit leaves the cluster."""
    platform = generation.checked.platform
    assert platform is not None
    known = generation.checked.profiles.sources()
    expected = {tenant.name for tenant in site.tenants}
    for team in platform.teams:
        if team.state_on(site.name).word == "retired":
            expected.add(team.name)
    for name in sorted(_leaving_teams(site, lock, generation, renamed) - expected):
        file = _TEAM.format(name)
        if file in known:
            message = (
                f"team `{name}` has no quota on cluster `{site.name}` any more, but still its sync "
                "unit there"
            )
            hint = _LEAVE.format(cluster=site.name)
            yield UNIT_VANISHED.at(Pointer(file) / "quota", message, hint=hint)


def _leaving_teams(
    site: Site, lock: Lock, generation: Generation, renamed: Mapping[str, Team]
) -> set[str]:
    """Return the teams with files that leave the cluster, by their names now."""
    teams = set()
    for path in _leaving(site, lock, generation):
        if path.startswith("teams/"):
            team = path.split("/")[1]
            teams.add(renamed[team].name if team in renamed else team)
    return teams


def _leaving(site: Site, lock: Lock, generation: Generation) -> Iterator[str]:
    """Yield the paths that the lockfile lists and the new tree lacks."""
    for path in lock.files:
        if f"{site.name}/{path}" not in generation.files:
            yield path
