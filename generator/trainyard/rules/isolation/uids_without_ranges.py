"""Find user ids in the ledger for clusters whose release has no ranges of them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.ids import UIDS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/uids-without-ranges",
    severity=Severity.ERROR,
    summary="The ledger has user ids only for OpenShift, where namespaces have ranges of them.",
    why="""
        The line has no effect: pods run with the ids of their runtime, and nothing reads the
        annotations.
    """,
    fix="Remove `uids` of this cluster from profiles/allocations.yaml.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        if platform.ids.get(site.name) and not site.cluster.release.job_scc:
            at = (platform.allocations_at / site.name / UIDS).key()
            message = (
                f"`uids` is for OpenShift, but cluster `{site.name}` has release "
                f"`{site.cluster.release.name}`"
            )
            yield RULE.at(at, message)


CHECK = Check(RULE, find)
