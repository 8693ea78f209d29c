"""Find user ids for clusters whose release gives pods ids of its own."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.ids import UIDS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/uids-without-ranges",
    severity=Severity.ERROR,
    summary="The ledger gives user ids on OpenShift only, where namespaces have ranges.",
    why="""
        Elsewhere nothing reads the annotations: the pods run with the ids of their runtime,
        whatever the line says.
    """,
    fix="Remove `uids` of this cluster from profiles/allocations.yaml.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        if platform.ids.get(site.name) and not site.cluster.release.job_scc:
            at = (platform.allocations_at / site.name / UIDS).key()
            message = (
                f"`uids` is for OpenShift, and cluster `{site.name}` has release "
                f"`{site.cluster.release.name}`"
            )
            yield RULE.at(at, message)


CHECK = Check(RULE, find)
