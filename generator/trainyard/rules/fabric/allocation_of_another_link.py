"""Text of `fabric/allocation-of-another-link`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="fabric/allocation-of-another-link",
    severity=Severity.ERROR,
    summary="""
        A team's allocation on a fabric has a segment of the fabric's link: a `partition` on
        infiniband, a `vlan` on roce.
    """,
    why="""
        The team's pods may be on the network of another team: a number that is read as a segment of
        the wrong link may be that team's.
    """,
    fix="""
        Write `partition: "0x0101"` on a fabric with `link: infiniband`, `vlan: 101` on one with
        `link: roce`.
    """,
)
