"""Text of `fabric/segments-of-another-link`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="fabric/segments-of-another-link",
    severity=Severity.ERROR,
    summary="""
        A fabric has a range of the segments of its link: `partitions` on infiniband, `vlans` on
        roce.
    """,
    why="""
        Every team is on one undivided network: partition keys mean nothing to an Ethernet switch,
        and VLANs mean nothing to a subnet manager.
    """,
    fix="""
        Write `partitions: 0x0100-0x017f` with `link: infiniband`, `vlans: 100-199` with `link:
        roce`.
    """,
)
