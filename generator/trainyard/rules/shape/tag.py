"""Text of `shape/tag`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/tag",
    severity=Severity.ERROR,
    summary="No value carries a YAML tag.",
    why="""
        Tags change types by reader, and some readers construct arbitrary objects from them.
    """,
    fix="Remove the tag; quote the value if it is text.",
)
