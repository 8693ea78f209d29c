"""Text of `shape/not-utf8`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/not-utf8",
    severity=Severity.ERROR,
    summary="The file is encoded in UTF-8.",
    why="""
        Readers guess the encoding differently, so a name could differ between the review and the
        cluster.
    """,
    fix="Save the file as UTF-8.",
)
