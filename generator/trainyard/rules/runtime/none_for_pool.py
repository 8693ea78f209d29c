"""Text of `runtime/none-for-pool`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="runtime/none-for-pool",
    severity=Severity.ERROR,
    summary="Some runtime runs on the hardware of a new team's node pool.",
    why="""
        The team has nodes and no way to launch a job on them: each is refused (seen with Kubernetes
        1.36.3).
    """,
    fix="Add the hardware to a runtime's `hardware`, or write a runtime for it.",
)
