"""Text of `change/renamed-from-retired`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/renamed-from-retired",
    severity=Severity.WARNING,
    summary="`renamedFrom` of a new team names no retired team.",
    why="""
        The groups of the new name get the retired team's network and user ids, and can read the
        files in its folder.
    """,
    fix="""
        If the retired team returns, let its former owners confirm the groups. For another team,
        use `trainyard add team`.
    """,
)
