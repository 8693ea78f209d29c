"""Text of `change/base-with-errors`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/base-with-errors",
    severity=Severity.WARNING,
    summary="""
        Each profile of the base can be read, has the right shape, and names what exists, so that
        its limits and owners judge the change. An error of another rule does not matter.
    """,
    why="""
        No rule reports whether the change needs a change of the platform, takes nodes from another
        team or deletes many objects. `diff` does not compare quota and pools, and does not know who
        approves.
    """,
    fix="Correct the base in a change of its own, then compare again.",
)
