"""Text of `change/allocation-given-away`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity
from trainyard.rules.change._fixes import NEVER_MERGED

RULE = Rule(
    id="change/allocation-given-away",
    severity=Severity.ERROR,
    summary="""
        No team gets a partition, VLAN or address that another team of the fabric was ever given.
    """,
    why="""
        Pods, ports and switches may still have the first team's numbers: RDMA passes between the
        two teams, and no NetworkPolicy filters it. Two hosts may answer for one address.
    """,
    fix=f"""
        Give the team numbers that were never used, as `trainyard add team` does. {NEVER_MERGED}
    """,
)
