"""Check the name of a new team: its form, and that no team has or had it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model import names
from trainyard.model.holding import Holding
from trainyard.model.ids import UIDS, Ids
from trainyard.model.platform import Platform
from trainyard.rules.names.bad_team_name import RULE as BAD_TEAM_NAME
from trainyard.rules.names.team_exists import RULE as TEAM_EXISTS
from trainyard.scaffold.profile import profile_path
from trainyard.yaml_io.lookalikes import beyond_ascii
from trainyard.yaml_io.scalars import is_typed

Remembered = Mapping[str, Collection[Holding | Ids]]
"""Cluster -> numbers and user ids that its lockfile remembers."""

_NAME = re.compile("[a-z]([a-z0-9-]{0,38}[a-z0-9])?")


def check_name(platform: Platform, name: str, remembered: Remembered) -> Iterator[Diagnostic]:
    """Yield why a name can't be that of a new team.

    Args:
        platform: the teams that there are, and their numbers.
        name: of the new team.
        remembered: numbers of former teams in the lockfile of each cluster.
    """
    fault = _fault(name)
    if fault:
        yield BAD_TEAM_NAME.at(Pointer(f"profiles/{profile_path(name)}"), fault)
    # A team that is there also has numbers; the first place is enough.
    for at, reason in _uses(platform, name, remembered):
        yield TEAM_EXISTS.at(at, reason)
        return


def _fault(name: str) -> str:
    """Return why a name is unfit for any team; empty when it is fit."""
    if not _NAME.fullmatch(name) or is_typed(name):
        return f"`{name}` can't be the name of a team{beyond_ascii(name)}"
    if name in names.DEVICES:
        return f"`{name}` is the name of a device on Windows"
    if name in names.RESERVED_TEAMS:
        return f"`{name}` is a name that Trainyard keeps for itself"
    return ""


def _uses(platform: Platform, name: str, remembered: Remembered) -> Iterator[tuple[Pointer, str]]:
    """Yield each place where a team has, or had, a name."""
    for team in platform.teams:
        if team.name == name:
            yield team.at, f"there is a team `{name}` already"
    yield from _former_uses(platform, name, remembered)


def _former_uses(
    platform: Platform, name: str, remembered: Remembered
) -> Iterator[tuple[Pointer, str]]:
    former = f"there was a team `{name}`"
    for (_, _, holder), allocation in sorted(platform.allocations.items()):
        if holder == name:
            yield allocation.at.key(), f"{former}: it still holds its allocation"
    for cluster, numbers in remembered.items():
        if name in map(_holder, numbers):
            reason = f"{former}: the lockfile of cluster `{cluster}` remembers its numbers"
            yield Pointer(f"overlays/{cluster}"), reason
    for cluster, ids in sorted(platform.ids.items()):
        if name in map(_holder, ids):
            at = platform.allocations_at / cluster / UIDS / names.namespace(name)
            yield at.key(), f"{former}: its namespace still has its user ids"


def _holder(number: Holding | Ids) -> str:
    """Return the team that has a number, or whose namespace has user ids."""
    if isinstance(number, Holding):
        return number.team
    return names.short(number.namespace)
