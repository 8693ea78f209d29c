"""Text of `change/many-deletions`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/many-deletions",
    severity=Severity.WARNING,
    summary="""
        A change deletes no larger share of a cluster's objects than `review.deleted` permits.
    """,
    why="""
        Argo CD prunes them at the next sync. A mistake in one profile, such as a wrong name, can
        delete the objects of many teams.
    """,
    fix="""
        See which objects `trainyard diff` lists as deleted: those that are left behind do not
        count. If all are meant, split the change, or let the platform's owners approve it.
    """,
)
