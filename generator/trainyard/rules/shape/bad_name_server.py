"""Text of `shape/bad-name-server`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/bad-name-server",
    severity=Severity.ERROR,
    summary="An address under `dns` is the IPv4 address of one host that pods can ask.",
    why="""
        The NetworkPolicy opens a way to an address where nothing answers. The one that pods ask
        stays closed, so no pod of a team resolves a name.
    """,
    fix="""
        Write the address behind `nameserver` in a pod's `/etc/resolv.conf`, e.g. 169.254.20.10,
        where NodeLocal DNSCache listens by default.
    """,
)
