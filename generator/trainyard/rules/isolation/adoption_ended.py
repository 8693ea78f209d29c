"""Find clusters and teams that spare what was there after the last day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.adoption import Adoption, Stage
from trainyard.model.platform import Platform
from trainyard.rules._check import DatedCheck
from trainyard.rules._iterate import active

RULE = Rule(
    id="isolation/adoption-ended",
    severity=Severity.ERROR,
    summary="Nothing spares what was there before the tree after the last day (`until`).",
    why="""
        Nothing on the cluster reads the day: pods of others go on to use the nodes of teams,
        Kueue goes on to manage queues that are not of the tree, or a team stays open.
    """,
    fix="Remove `adopt` from the profile, or agree on a later day.",
)


def find(platform: Platform, today: str) -> Iterator[Diagnostic]:
    adoptions: list[tuple[str, Adoption | Stage]] = [
        *((f"cluster {site.name}", site.cluster.adoption) for site in platform.sites),
        *((f"team {team.name}", team.stage) for team in active(platform)),
    ]
    for whose, adoption in adoptions:
        if adoption.until and adoption.until < today:
            message = f"the adoption of {whose} ended on {adoption.until}"
            note = Note(f"the reason for it was: {adoption.reason}", adoption.at / "reason")
            yield RULE.at(adoption.at / "until", message, notes=[note])


CHECK = DatedCheck(RULE, find)
