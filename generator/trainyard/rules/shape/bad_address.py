"""Text of `shape/bad-address`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/bad-address",
    severity=Severity.ERROR,
    summary="An address range is an IPv4 network without host bits.",
    why="""
        Every pod that attaches to the range stays in ContainerCreating, because the CNI plugin
        refuses it.
    """,
    fix="Write the network's own address, e.g. 10.64.0.0/13.",
)
