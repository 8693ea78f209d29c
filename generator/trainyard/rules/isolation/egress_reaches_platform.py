"""Find namespaces of the platform among the ways out."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/egress-reaches-platform",
    severity=Severity.ERROR,
    summary="""
        No way out leads to what runs the platform: Argo CD, and the controllers of jobs, queues and
        ports.
    """,
    why="""
        They trust the network that they are on, Argo CD's repository server and cache first of all:
        a job that reaches them may change what is delivered, or stop it.
    """,
    fix="Leave the namespace out; jobs need none of them.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        runs = _platform(site.cluster)
        for egress in site.cluster.egress:
            for i, namespace in enumerate(egress.namespaces):
                if namespace in runs:
                    message = (
                        f"egress `{egress.name}` lets every team reach `{namespace}`, "
                        f"{runs[namespace]}"
                    )
                    yield RULE.at(egress.at / "namespaces" / i, message)


def _platform(cluster: Cluster) -> dict[str, str]:
    """Return the platform's namespaces with what runs there, but what workspaces are served from."""
    release = cluster.release
    accounts = (user.split(":") for user in release.controllers)
    return {
        **{
            account[2]: "where controllers run"
            for account in accounts
            if account[2] not in release.workspace_ingress
        },
        release.sriov_namespace: "where the SR-IOV operator runs",
        cluster.argocd_namespace: "where Argo CD runs",
        cluster.system_namespace: "which holds the limits of all teams",
    }


CHECK = Check(RULE, find)
