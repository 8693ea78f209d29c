"""Text of `change/needs-platform-change`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/needs-platform-change",
    severity=Severity.WARNING,
    summary="A team's change is valid with the base's platform files, waivers and ledger.",
    why="""
        The team's owners approve a change that also moves the limits that it is measured against.
        If the platform's part is reverted alone, the team's part is invalid.
    """,
    fix="""
        Merge the platform's change first, in a pull request of its own. If both belong together,
        let the owners of the platform files approve it.
    """,
)
