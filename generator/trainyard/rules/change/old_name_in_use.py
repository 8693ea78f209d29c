"""Find teams that state an old name which another profile has."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="change/old-name-in-use",
    severity=Severity.ERROR,
    summary="The name in `renamedFrom` has no profile any more, and one team states it.",
    why="""
        Both teams would have the old team's numbers and folder: jobs of two teams share one
        network and the same files.
    """,
    fix="""
        Rename the file of the old profile with `git mv`. To split a team, add a new team with
        `trainyard add team`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    claimed = {team.name: team.at for team in platform.teams}
    for team in platform.teams:
        at = team.at / "renamedFrom"
        if team.renamed_from in claimed:
            message = f"team {team.name} can't be renamed from `{team.renamed_from}`: it is in use"
            user = Note("the name is used here", claimed[team.renamed_from])
            yield RULE.at(at, message, notes=[user])
        elif team.renamed_from:
            claimed[team.renamed_from] = at


CHECK = Check(RULE, find)
