"""Text of `capacity/quota-defined-twice`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="capacity/quota-defined-twice",
    severity=Severity.ERROR,
    summary="A quota of a pool is in nodes or, as a share of one node, in GPUs or cores.",
    why="""
        The queue has too much quota or none: one of the numbers is silently dropped.
    """,
    fix="Write one of `nodes`, `gpus` and `cores`; a team that only borrows has `nodes: 0`.",
)
