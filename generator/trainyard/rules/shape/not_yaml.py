"""Text of `shape/not-yaml`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/not-yaml",
    severity=Severity.ERROR,
    summary="The file is well-formed YAML.",
    why="""
        Nothing can be generated from the file: its cluster would keep its last tree, which differs
        from the profile.
    """,
    fix="""
        Correct the syntax; quote a value that has `: ` or ` #` or begins with one of `*&!|>%@[]{}`.
    """,
)
