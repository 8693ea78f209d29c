"""Text of `fabric/range-exhausted`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="fabric/range-exhausted",
    severity=Severity.ERROR,
    summary="""
        A fabric has a partition and an address block left that no team ever held, on any cluster.
    """,
    why="Two teams with the same partition or addresses reach each other's memory over RDMA.",
    fix="Widen the fabric's range with its owner; never give what a retired team held to another.",
)
