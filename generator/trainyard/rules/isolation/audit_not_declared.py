"""Look for an owner of the audit log of each cluster with a team that needs one."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._compliance import NOT_ENFORCED, under

AUDIT_LOG = "AuditLog/"
"""Kind of what the owner of the audit log is declared for in a cluster's `external`."""


RULE = Rule(
    id="isolation/audit-not-declared",
    severity=Severity.ERROR,
    summary="Where a regulation asks for an audit log, somebody is named who keeps it.",
    why=f"""
        The API server records nothing that the regulation asks for until it is given the audit
        policy, or the audit profile on OpenShift. Its log stays on the control plane until it is
        rotated away, unless somebody forwards it. {NOT_ENFORCED}
    """,
    fix="Declare who keeps it in `external`, e.g. `AuditLog/siem: security team`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, tenant, compliance in under(platform, "audit"):
        if not any(each.startswith(AUDIT_LOG) for each in site.cluster.external):
            message = (
                f"team {tenant.name} is under {compliance.name}, and cluster {site.name} "
                f"names no {AUDIT_LOG}..."
            )
            at = (tenant.team.at / "quota" / site.name).key()
            notes = [Note("to be said here", site.cluster.at / "external")]
            cause = (
                f"teams are under {compliance.name}, and cluster {site.name} names no "
                f"{AUDIT_LOG}..."
            )
            yield RULE.at(at, message, notes=notes, cause=cause)


CHECK = Check(RULE, find)
