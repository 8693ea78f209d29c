"""Text of `shape/too-large`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/too-large",
    severity=Severity.ERROR,
    summary="The file stays within the size of a profile a human can review.",
    why="""
        A profile beyond these limits can't be reviewed, and can exhaust the memory of the pipeline
        that reads it.
    """,
    fix="Split the profile, or move generated content out of it.",
)
