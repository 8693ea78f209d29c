"""Find egress rules and name servers in namespaces of the platform."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.isolation._egress import reached_namespaces

RULE = Rule(
    id="isolation/egress-reaches-platform",
    severity=Severity.ERROR,
    summary="""
        Neither an egress rule nor `dns` leads to a namespace that runs the platform: Argo CD, and
        the controllers of jobs, queues and ports.
    """,
    why="""
        A job that reaches these programs can change or stop what is delivered: they trust their
        network, above all Argo CD's repository server and cache.
    """,
    fix="""
        Remove the namespace; jobs need none of these. Under `dns`, write the one whose pods answer
        for the cluster's names.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        platform_namespaces = _platform(site.cluster)
        for namespace, opener, at in reached_namespaces(site.cluster):
            if namespace in platform_namespaces:
                purpose = platform_namespaces[namespace]
                yield RULE.at(at, f"{opener} lets every team reach `{namespace}`, {purpose}")


def _platform(cluster: Cluster) -> dict[str, str]:
    """Return the platform's namespaces with their purpose, except those that serve workspaces."""
    release = cluster.release
    controllers = {user.split(":")[2] for user in release.controllers}
    return {
        **dict.fromkeys(controllers - {*release.workspace_ingress}, "where controllers run"),
        release.sriov_namespace: "where the SR-IOV operator runs",
        cluster.argocd_namespace: "where Argo CD runs",
        cluster.system_namespace: "which holds the limits of all teams",
    }


CHECK = Check(RULE, find)
