"""Find quotas after their last day."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.team import Quota, Term
from trainyard.rules._check import DatedCheck
from trainyard.rules._iterate import quotas

RULE = Rule(
    id="capacity/quota-expired",
    severity=Severity.WARNING,
    summary="No quota has passed its last day (`until`).",
    why="""
        The team keeps the nodes: nothing on the cluster reads the day. Other teams can't get these
        nodes as a quota, and may only borrow what the team lends.
    """,
    fix="""
        Lower the quota to what `then` states and remove `until`, `reason` and `then`; or agree on a
        later day.
    """,
)


def find(platform: Platform, today: str) -> Iterator[Diagnostic]:
    for team, quota in quotas(platform):
        if quota.term and quota.term.until < today:
            back = quota.display(quota.nodes - quota.term.nodes)
            message = (
                f"the quota of team {team.name} on pool `{quota.pool}` of cluster "
                f"`{quota.cluster}` ended on {quota.term.until}: {back} of {quota.pool} should be "
                "back in the pool"
            )
            note = Note(f"the reason for the quota was: {quota.term.reason}", quota.at / "reason")
            yield RULE.at(quota.at / "until", message, hint=_hint(quota, quota.term), notes=[note])


def _hint(quota: Quota, term: Term) -> str:
    """Return the edit that ends the quota's time."""
    after = quota.units(term.nodes)
    if quota.is_share and not after:
        return "Remove the quota of the pool, or agree on a later day."
    return (
        f"Set `{quota.unit}: {after}`, and remove `until`, `reason` and `then`; or agree on a "
        "later day."
    )


CHECK = DatedCheck(RULE, find)
