"""User ids of namespaces, in the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.ids import UIDS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

UIDS_SHARED = Rule(
    id="isolation/uids-shared",
    severity=Severity.ERROR,
    summary="Each namespace of a cluster has a range of user ids and an SELinux level of its own.",
    why=(
        "To a file server and to SELinux the pods of both namespaces are one user. Where one can reach the other's"
        " folder or a file that it left on a node, nothing keeps it from reading it."
    ),
    fix="Write what each namespace has on the cluster; for a new one, the next range as `trainyard add team` gives it.",
)
UIDS_WITHOUT_RANGES = Rule(
    id="isolation/uids-without-ranges",
    severity=Severity.ERROR,
    summary="The ledger gives user ids on OpenShift only, where namespaces have ranges.",
    why="Elsewhere nothing reads the annotations: the pods run with the ids of their runtime, whatever the line says.",
    fix="Remove `uids` of this cluster from profiles/allocations.yaml.",
)


def uids_shared(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the lines of each cluster, those of namespaces that are gone included."""
    for cluster, every in sorted(platform.ids.items()):
        owners: dict[object, str] = {}
        for ids in every:
            at = platform.allocations_at / cluster / UIDS
            for field, mark in ids.marks.items():
                owner = owners.setdefault(mark, ids.namespace)
                if owner != ids.namespace:
                    both = f"namespaces `{owner}` and `{ids.namespace}` of cluster `{cluster}`"
                    message = f"{both} both have {field} {getattr(ids, field)}"
                    note = Note("the first is given here", at / owner / field)
                    yield UIDS_SHARED.at(at / ids.namespace / field, message, notes=[note])


def uids_without_ranges(platform: Platform) -> Iterator[Diagnostic]:
    """Find user ids for clusters whose release gives pods ids of its own."""
    for site in platform.sites:
        if platform.ids.get(site.name) and not site.cluster.release.job_scc:
            at = (platform.allocations_at / site.name / UIDS).key()
            message = f"`uids` is for OpenShift, and cluster `{site.name}` has release `{site.cluster.release.name}`"
            yield UIDS_WITHOUT_RANGES.at(at, message)


CHECKS = (Check(UIDS_SHARED, uids_shared), Check(UIDS_WITHOUT_RANGES, uids_without_ranges))
