"""Settings of the whole platform, and rules that compare clusters with each other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages

EAST, WEST, ALLOCATIONS = "clusters/prod-east.yaml", "clusters/prod-west.yaml", "allocations.yaml"
NETWORKS = {"pods": "10.128.0.0/14", "services": "172.30.0.0/16", "machines": "10.20.0.0/24"}
IB = {"link": "infiniband", "partitions": "0x0100-0x017f", "addresses": "10.64.0.0/13"}
ROCE = {"link": "roce", "vlans": "100-400", "addresses": "10.64.0.0/13"}


def west(server: str = "https://west.example.com:6443", **fabric: Any) -> dict[str, Any]:
    """Return a second cluster, which may have a fabric."""
    return {
        WEST: {
            "release": "openshift-ai-3.5",
            "server": server,
            "pools": {"dgx-h100": {"nodes": 4, **({"fabric": "ib"} if fabric else {})}},
            "fabrics": {"ib": fabric} if fabric else {},
            "networks": NETWORKS,
        }
    }


@pytest.mark.parametrize(
    ("domain", "breaks"),
    [
        ("kubernetes.io", True),
        ("ml.x-k8s.io", True),
        ("training.nvidia.com", True),
        ("ml.example.com", False),
        ("mykubernetes.io", False),
        ("openshift.io.example.com", False),
    ],
)
def test_foreign_domain_includes_everything_below_it(domain: str, *, breaks: bool) -> None:
    assert bool(messages("names/foreign-domain", {"trainyard.yaml": {"domain": domain}})) is breaks


@pytest.mark.parametrize(
    ("address", "breaks"),
    [
        ("http://git.corp.internal/ml/platform.git", True),
        ("https://git.corp.internal/ml/platform.git", False),
        ("ssh://git@git.corp.internal/ml/platform.git", False),
        ("file:///srv/git/platform.git", False),
    ],
)
def test_repository_needs_encryption_on_a_network(address: str, *, breaks: bool) -> None:
    """Argo CD reads a `file` address without a network."""
    found = messages("delivery/clear-text-address", {"trainyard.yaml": {"repository": address}})

    assert bool(found) is breaks


@pytest.mark.parametrize(
    ("one", "two", "breaks"),
    [
        ("https://a.example.com:6443", "https://A.example.com:6443/", True),
        ("https://a.example.com:6443", "https://a.example.com:8443", False),
        ("https://kubernetes.default.svc", "https://kubernetes.default.svc", False),
        ("https://kubernetes.default.svc", "https://kubernetes.default.svc/", False),
    ],
)
def test_two_clusters_have_different_servers(one: str, two: str, *, breaks: bool) -> None:
    """Clusters with their own Argo CD may both have its URL for the cluster that it runs on."""
    found = messages("delivery/server-of-two-clusters", {EAST: {"server": one}, **west(two)})

    assert bool(found) is breaks


@pytest.mark.parametrize(
    ("fabric", "allocations", "breaks"),
    [
        (IB, {"science": {"partition": "0x0101"}}, True),
        (IB, {"nlp": {"partition": "0x0101"}}, False),
        (IB, {"science": {"partition": "0x0103"}}, False),
        (ROCE, {"science": {"vlan": 0x101}}, False),
    ],
)
def test_two_teams_have_different_partitions_on_two_clusters(
    fabric: dict[str, Any], allocations: dict[str, Any], *, breaks: bool
) -> None:
    """Fabrics of one kind of link may be one network, whoever runs them; a team may keep its
    number."""
    entries = {team: {**entry, "addresses": "10.64.0.0/20"} for team, entry in allocations.items()}
    changes = {**west(**fabric), ALLOCATIONS: {"prod-west": {"ib": entries}}}

    assert bool(messages("fabric/partitions-of-two-clusters", changes)) is breaks
