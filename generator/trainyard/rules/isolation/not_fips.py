"""Find clusters that are not in FIPS mode although a team's regulation requires it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._compliance import NOT_ENFORCED, under

RULE = Rule(
    id="isolation/not-fips",
    severity=Severity.ERROR,
    summary="Where a regulation requires FIPS mode, the nodes of the team's clusters run in it.",
    why=f"""
        Kernel, sshd and libraries use any algorithm, validated or not. FIPS mode is chosen when a
        node is installed and cannot be switched on later. {NOT_ENFORCED}
    """,
    fix="""
        Move the team's quota to a cluster with `fips: true`; set `fips: true` for this cluster only
        if its nodes run in FIPS mode.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, tenant, compliance in under(platform, "fips"):
        if not site.cluster.fips:
            message = (
                f"team {tenant.name} is under {compliance.name}, but cluster {site.name} is "
                "not in FIPS mode"
            )
            at = (tenant.team.at / "quota" / site.name).key()
            notes = [Note("the cluster", site.cluster.at / "fips")]
            cause = (
                f"teams are under {compliance.name}, but cluster {site.name} is not in FIPS mode"
            )
            yield RULE.at(at, message, notes=notes, cause=cause)


CHECK = Check(RULE, find)
