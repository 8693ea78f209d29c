"""Text of `preflight/unchecked`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="preflight/unchecked",
    severity=Severity.ERROR,
    summary="All that the checks of a running cluster need can be read.",
    why="""
        The rules that need it were not asked, so the cluster may contradict the tree there.
    """,
    fix="""
        Give the account the right to read it, or waive this for the cluster's profile and state who
        checks it.
    """,
    waivable=True,
)
