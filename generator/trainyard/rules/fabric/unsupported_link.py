"""Text of `fabric/unsupported-link`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="fabric/unsupported-link",
    severity=Severity.ERROR,
    summary="The `link` of a fabric is a kind of network that Trainyard builds runtimes for.",
    why="""
        Jobs would be admitted and fall back to TCP without a message, at a fraction of the speed,
        because their pods lack what the network needs.
    """,
    fix="""
        Choose a link of `docs/reference/platforms.md`, or leave `fabric` of the pool out.
    """,
)
