"""Text of `names/bad-team-name`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="names/bad-team-name",
    severity=Severity.ERROR,
    summary="""
        A team's name is lower-case letters, digits and inner hyphens, and no word that means
        something else.
    """,
    why="""
        The name becomes a namespace, queues and labels. The API server refuses them in any other
        form, and a name of Trainyard's own would stand for two things, such as alerts of
        `team: platform`.
    """,
    fix="""
        Choose another: lower-case letters, digits and inner hyphens, a letter first, at most 40
        characters, no word such as `on` or `null`.
    """,
)
