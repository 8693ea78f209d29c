"""Text of `change/stale-owners`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/stale-owners",
    severity=Severity.ERROR,
    summary="The block of CODEOWNERS that Trainyard writes is what the profiles state.",
    why="""
        The Git host asks people for a review who no longer own the file, or nobody: a change of
        quota, waivers or workflows is merged without its owners.
    """,
    fix="Run `trainyard codeowners` and commit what it writes.",
)
