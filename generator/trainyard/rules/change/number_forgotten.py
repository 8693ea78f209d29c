"""Text of `change/number-forgotten`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/number-forgotten",
    severity=Severity.ERROR,
    summary="A lockfile keeps every number and every range of user ids that it remembers.",
    why="""
        `trainyard add team` gives the number to another team. Pods, ports and switches may still
        have it: RDMA passes between the two teams, and no NetworkPolicy filters it. With the user
        ids, the other team may read the first one's files on shared storage.
    """,
    fix="Restore `trainyard.lock` from the base branch, then run `trainyard generate`.",
)
