"""Text of `shape/odd-key`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/odd-key",
    severity=Severity.ERROR,
    summary="""
        Keys are plain text: ASCII letters, digits and `_ . : / -`, beginning with a letter or
        digit.
    """,
    why="""
        A key that is a number, a truth value or a structure gets another name in each reader.
    """,
    fix="""
        Spell the key with letters, digits and `_ . : / -`; quote it if it looks like a number or a
        truth value.
    """,
)
