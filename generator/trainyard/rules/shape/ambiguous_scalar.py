"""Text of `shape/ambiguous-scalar`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/ambiguous-scalar",
    severity=Severity.ERROR,
    summary="A value without quotes is of the same type for every YAML reader.",
    why="""
        Readers disagree: Kubernetes' and Argo CD's take `no` for false, `0123` for 83 and `1e3` for
        a number. Others see text, so the cluster would get another value than the one reviewed.
    """,
    fix="Put the value in double quotes.",
)
