"""Text of `scheduling/topology-stated-twice`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="scheduling/topology-stated-twice",
    severity=Severity.ERROR,
    summary="""
        The levels of a fabric are in the fabric itself, or in the topology of the same name, not in
        both.
    """,
    why="""
        One of the two has no effect, and nothing shows which: jobs would be placed by other levels
        than somebody reads in the profile.
    """,
    fix="Remove `levels` and `leafNodes` of the fabric, or rename the topology.",
)
