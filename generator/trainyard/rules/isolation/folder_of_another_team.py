"""Find folders on NFS servers and in secret stores that two teams have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/folder-of-another-team",
    severity=Severity.ERROR,
    summary="No team's `folder` is the folder of another team, retired teams included.",
    why="""
        The team's pods mount the other team's files, and may read, overwrite and delete them. Its
        namespace gets the other team's secrets from the secret store.
    """,
    fix="""
        Give the team a folder of its own. A renamed team keeps its folder: rename its lines in
        profiles/allocations.yaml too, and let no other team take the old name.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    taken = _taken(platform)
    for team in platform.teams:
        stated = team.at / "folder"
        for owner, at in sorted(taken.get(team.folder, {}).items()):
            # Of two teams, the one whose folder is not its name is reported.
            if team.name not in {owner, team.folder}:
                message = f"folder `{team.folder}` of team {team.name} belongs to team {owner}"
                yield RULE.at(stated, message, notes=[Note(f"team {owner}", at)])


def _taken(platform: Platform) -> dict[str, dict[str, Pointer]]:
    """Return the owners of each folder with a place of each: teams, and names in the ledger."""
    taken: dict[str, dict[str, Pointer]] = {}
    for (_, _, name), held in sorted(platform.allocations.items()):
        taken.setdefault(name, {})[name] = held.at
    for team in platform.teams:
        taken.setdefault(team.folder, {})[team.name] = team.at
    return taken


CHECK = Check(RULE, find)
