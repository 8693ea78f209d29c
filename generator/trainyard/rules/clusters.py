"""What holds for the whole platform, and clusters against each other."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.cluster import Cluster
from trainyard.model.platform import Platform
from trainyard.model.team import Allocation
from trainyard.rules._check import Check
from trainyard.rules._walk import allocated

OWN_SERVER = "https://kubernetes.default.svc"
"""Each Argo CD calls the cluster that it runs on so."""

FOREIGN_DOMAINS = (
    "argoproj.io",
    "cncf.io",
    "k8s.io",
    "kubeflow.org",
    "kubernetes.io",
    "nvidia.com",
    "openshift.io",
    "opendatahub.io",
    "x-k8s.io",
)
"""Domains whose labels the controllers around us read."""

FOREIGN_DOMAIN = Rule(
    id="names/foreign-domain",
    severity=Severity.ERROR,
    summary="The domain of labels and annotations is the platform team's own.",
    why=(
        "Labels below it belong to its owner's controllers: ours could be taken for one with a meaning, now or after an"
        " upgrade, and the API server keeps some for itself."
    ),
    fix="Use a domain of yours, e.g. ml.example.com.",
)
CLEAR_TEXT_ADDRESS = Rule(
    id="delivery/clear-text-address",
    severity=Severity.ERROR,
    summary="Argo CD reaches the repository and every cluster over an encrypted connection.",
    why=(
        "Whoever stands between may put objects of his own into what Argo CD applies with its rights, or take the token"
        " that it applies them with."
    ),
    fix="Write the https address, or ssh for the repository.",
)
SERVER_OF_TWO_CLUSTERS = Rule(
    id="delivery/server-of-two-clusters",
    severity=Severity.ERROR,
    summary="Each cluster has an API server of its own.",
    why=(
        "Two platform units take turns at the same objects: each sync undoes the other's (seen with Kubernetes 1.36.3:"
        " the list of admitted namespaces, so jobs are refused by turns), and nodes are promised twice."
    ),
    fix="Correct the address of one of the two.",
)
PARTITIONS_OF_TWO_CLUSTERS = Rule(
    id="fabric/partitions-of-two-clusters",
    severity=Severity.WARNING,
    summary="Fabrics of two clusters with one owner give no number to two teams.",
    why=(
        "If one subnet manager, or the same switches, serve both, the two teams are on one network: RDMA passes between"
        " their jobs, and no NetworkPolicy sees it."
    ),
    fix="Give the fabrics ranges that don't meet; waive this when no cable joins them.",
)


def foreign_domain(platform: Platform) -> Iterator[Diagnostic]:
    """Look at the end of the domain."""
    settings = platform.settings
    for domain in FOREIGN_DOMAINS:
        if f".{settings.domain}".endswith(f".{domain}"):
            yield FOREIGN_DOMAIN.at(settings.at / "domain", f"`{settings.domain}` belongs to the owner of {domain}")


def clear_text_address(platform: Platform) -> Iterator[Diagnostic]:
    """Find addresses without encryption."""
    settings = platform.settings
    addresses: list[tuple[str, Pointer]] = [(settings.repository, settings.at / "repository")]
    addresses += [(site.cluster.server, site.cluster.at / "server") for site in platform.sites]
    for address, at in addresses:
        if address.startswith("http://"):
            yield CLEAR_TEXT_ADDRESS.at(at, f"Argo CD would speak to {address} in the clear")


def server_of_two_clusters(platform: Platform) -> Iterator[Diagnostic]:
    """Find addresses of an earlier cluster among those of a later one."""
    known: dict[str, Cluster] = {}
    for cluster in (site.cluster for site in platform.sites):
        server = cluster.server.rstrip("/").lower()
        first = known.setdefault(server, cluster)
        if first is not cluster and server != OWN_SERVER:
            message = f"clusters {first.name} and {cluster.name} are both at {cluster.server}"
            notes = [Note(f"cluster {first.name}", first.at / "server")]
            yield SERVER_OF_TWO_CLUSTERS.at(cluster.at / "server", message, notes=notes)


def partitions_of_two_clusters(platform: Platform) -> Iterator[Diagnostic]:
    """Find numbers of one owner's fabrics with two holders on two clusters; one fabric alone has a rule of its own."""
    known: dict[tuple[str, str, int], tuple[str, str, Allocation]] = {}
    for site, fabric, holders in allocated(platform):
        link = fabric.link
        owner = site.cluster.external.get(f"{link.enforced}/{fabric.name}", "")
        for team, each in holders:
            first = known.setdefault((link.name, owner, each.segment), (site.name, team, each))
            if owner and first[0] != site.name and first[1] != team:
                message = f"{link.segment} {link.told(each.segment)} is that of team {team} on {site.name}"
                message += f" and of team {first[1]} on {first[0]}; both fabrics belong to the {owner}"
                notes = [Note(f"team {first[1]}", first[2].at)]
                yield PARTITIONS_OF_TWO_CLUSTERS.at(each.at / link.field, message, notes=notes)


CHECKS = (
    Check(FOREIGN_DOMAIN, foreign_domain),
    Check(CLEAR_TEXT_ADDRESS, clear_text_address),
    Check(SERVER_OF_TWO_CLUSTERS, server_of_two_clusters),
    Check(PARTITIONS_OF_TWO_CLUSTERS, partitions_of_two_clusters),
)
