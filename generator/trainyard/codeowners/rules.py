"""Rules about the CODEOWNERS file."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

STALE_OWNERS = Rule(
    id="change/stale-owners",
    severity=Severity.ERROR,
    summary="The block of CODEOWNERS that Trainyard writes is what the profiles state.",
    why="""
        The Git host asks people for a review who no longer own the file, or nobody: a change of
        quota, waivers or workflows is merged without its owners.
    """,
    fix="Run `trainyard codeowners` and commit what it writes.",
)
OVERRIDDEN_OWNERS = Rule(
    id="change/overridden-owners",
    severity=Severity.WARNING,
    summary="No line after Trainyard's block of CODEOWNERS matches a file of the block.",
    why="""
        The last line that matches a file decides, so this line replaces the owners that the
        profiles state.
    """,
    fix="Move the line above the block, or begin its pattern with another folder.",
)
RULES = (STALE_OWNERS, OVERRIDDEN_OWNERS)
