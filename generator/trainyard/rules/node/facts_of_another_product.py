"""Text of `node/facts-of-another-product`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="node/facts-of-another-product",
    severity=Severity.ERROR,
    summary="A profile with another product than what it extends gives the server's facts anew.",
    why="""
        Another product is in another server: rails are made on ports that do not exist or that
        carry storage, and quota and runtimes are computed for the other server.
    """,
    fix="""
        Extend the preset of this server. If there is none, give these fields from `lscpu`, `lspci`
        and `nvidia-smi topo -m` on such a node; `nics: []` if it has no rails.
    """,
)
