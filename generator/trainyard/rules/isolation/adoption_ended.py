"""Find clusters that spare what was there after the last day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import DatedCheck

RULE = Rule(
    id="isolation/adoption-ended",
    severity=Severity.ERROR,
    summary="No cluster spares what was there before the tree after the last day (`until`).",
    why="""
        Nothing on the cluster reads the day: pods of others go on to use the nodes of teams, or
        Kueue goes on to manage queues that are not of the tree.
    """,
    fix="Remove `adopt` from the cluster's profile, or agree on a later day.",
)


def find(platform: Platform, today: str) -> Iterator[Diagnostic]:
    for site in platform.sites:
        adoption = site.cluster.adoption
        if adoption.until and adoption.until < today:
            message = f"the adoption of cluster {site.name} ended on {adoption.until}"
            note = Note(f"the reason for it was: {adoption.reason}", adoption.at / "reason")
            yield RULE.at(adoption.at / "until", message, notes=[note])


CHECK = DatedCheck(RULE, find)
