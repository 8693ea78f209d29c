"""Find clusters without an owner of the audit log that a team's regulation requires."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._compliance import NOT_ENFORCED, under
from trainyard.rules._iterate import AUDIT_LOG

RULE = Rule(
    id="isolation/audit-not-declared",
    severity=Severity.ERROR,
    summary="""
        Where a regulation requires an audit log, `external` of the cluster names the log's owner.
    """,
    why=f"""
        The API server logs nothing that the regulation requires until it has the audit policy, or
        on OpenShift the audit profile. The log stays on the control plane until it is rotated away,
        unless someone forwards it. {NOT_ENFORCED}
    """,
    fix="Declare the owner in `external` of the cluster, e.g. `AuditLog/siem: security team`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, tenant, compliance in under(platform, "audit"):
        if not any(declared.startswith(AUDIT_LOG) for declared in site.cluster.external):
            message = (
                f"team {tenant.name} is under {compliance.name}, but cluster {site.name} has no "
                f"`{AUDIT_LOG}...` in `external`"
            )
            at = (tenant.team.at / "quota" / site.name).key()
            notes = [Note("to be declared here", site.cluster.at / "external")]
            cause = (
                f"teams are under {compliance.name}, but cluster {site.name} has no "
                f"`{AUDIT_LOG}...` in `external`"
            )
            yield RULE.at(at, message, notes=notes, cause=cause)


CHECK = Check(RULE, find)
