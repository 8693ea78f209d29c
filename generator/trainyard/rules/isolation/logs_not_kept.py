"""Find clusters that keep no lines of pods although a team's regulation demands it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/logs-not-kept",
    severity=Severity.ERROR,
    summary="Where a regulation states `keepLogs`, the team's clusters have `monitoring.logs`.",
    why="""
        The owner of the log store is not asked to keep the team's lines. What a pod printed goes
        when the pod is deleted, at the latest when its job is.
    """,
    fix="""
        Set `logs: {}` below `monitoring` of the cluster, and declare the owner of the log store in
        `external`, e.g. `Logs/loki: monitoring team`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        if site.cluster.monitoring and site.cluster.monitoring.logs:
            continue
        for tenant in site.tenants:
            compliance = tenant.team.compliance
            if compliance and compliance.keep_logs:
                without = f"cluster {site.name} has no `monitoring.logs`"
                message = f"team {tenant.name} is under {compliance.name}, but {without}"
                at = (tenant.team.at / "quota" / site.name).key()
                notes = [
                    Note("the days that it demands", compliance.at / "keepLogs"),
                    Note("to be stated here", site.cluster.at / "monitoring"),
                ]
                cause = f"teams are under {compliance.name}, but {without}"
                yield RULE.at(at, message, notes=notes, cause=cause)


CHECK = Check(RULE, find)
