"""Find programs of the platform that run in a namespace of a team."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/platform-in-a-tenant",
    severity=Severity.ERROR,
    summary="Neither Argo CD nor Prometheus runs in a namespace of a team or in `default`.",
    why="""
        Policies open the metrics of all teams' jobs to each pod of Prometheus' namespace, so the
        team reads those of others. A pod in Argo CD's namespace, or in that of its account on the
        cluster, can use this account, which the policies let do everything.
    """,
    fix="State the namespace in which the program runs, and no team.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for program, namespace, at in _programs(site.cluster):
            if owner := names.owner_of_namespace(namespace):
                yield RULE.at(at, f"{program} is in `{namespace}`, which belongs to {owner}")


def _programs(cluster: Cluster) -> Iterator[tuple[str, str, Pointer]]:
    """Yield programs of the platform whose namespace a profile may state."""
    yield "Argo CD", cluster.argocd_namespace, cluster.at / "argocd" / "namespace"
    delivers, _, _ = cluster.argocd_account.partition(":")
    if delivers != cluster.argocd_namespace:
        yield "the account of Argo CD", delivers, cluster.at / "argocd" / "account"
    if cluster.monitoring:
        at = cluster.monitoring.at / "namespace"
        yield "Prometheus", cluster.monitoring.namespace, at


CHECK = Check(RULE, find)
