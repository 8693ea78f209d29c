"""Find clusters where debuggers work and nobody owns an audit log."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import AUDIT_LOG

RULE = Rule(
    id="access/unaudited-debugger",
    severity=Severity.ERROR,
    summary="Where a team has debuggers, `external` of the cluster names the audit log's owner.",
    why="""
        Nobody can find out later who ran which command in a pod: Kubernetes records it only in the
        audit log, which the API server does not write until it has an audit policy, and rotates
        away unless someone forwards it.
    """,
    fix="Declare the owner in `external` of the cluster, e.g. `AuditLog/siem: security team`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        if any(declared.startswith(AUDIT_LOG) for declared in site.cluster.external):
            continue
        for tenant in site.tenants:
            if tenant.team.debuggers:
                missing = f"cluster {site.name} has no `{AUDIT_LOG}...` in `external`"
                message = f"team {tenant.name} has debuggers, but {missing}"
                notes = [Note("to be declared here", site.cluster.at / "external")]
                cause = f"teams have debuggers, but {missing}"
                yield RULE.at(tenant.team.debuggers.at.key(), message, notes=notes, cause=cause)


CHECK = Check(RULE, find)
