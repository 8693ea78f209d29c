"""Where ways out lead."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages

CLUSTER = "clusters/prod-east.yaml"


def egress(**fields: Any) -> dict[str, Any]:
    return {CLUSTER: {"egress": {"x": {"ports": [443], **fields}}}}


@pytest.mark.parametrize(
    ("ports", "told"),
    [
        ([443, 6443, 29999, 32768], ""),
        ([22], "port 22, ssh"),
        ([443, 2379], "port 2379, etcd"),
        ([2380], "port 2380, etcd"),
        ([10250], "port 10250, the kubelet"),
        ([30000], "port 30000, a node port"),
        ([32767, 22], "port 32767, a node port"),
    ],
)
def test_ports_of_every_node_are_told(ports: list[int], told: str) -> None:
    """The API server and what else a machine may serve are fine; what every node answers on is
    not."""
    found = messages("isolation/egress-reaches-nodes", egress(to=["10.20.0.8/29"], ports=ports))

    overlap = (
        "egress `x` leads to 10.20.0.8/29, which overlaps 10.20.0.0/24 of the cluster's machines"
    )
    assert found == ([f"{overlap}, on {told}"] if told else [])


@pytest.mark.parametrize(
    ("namespace", "what"),
    [
        ("openshift-gitops", "where Argo CD runs"),
        ("openshift-sriov-network-operator", "where the SR-IOV operator runs"),
        ("kube-system", "where controllers run"),
        ("trainyard-system", "which holds the limits of all teams"),
        ("openshift-monitoring", ""),
    ],
)
def test_no_namespace_of_the_platform_is_reached(namespace: str, what: str) -> None:
    """Each of them is named with what it is for."""
    found = messages("isolation/egress-reaches-platform", egress(namespaces=[namespace]))

    assert found == ([f"egress `x` lets every team reach `{namespace}`, {what}"] if what else [])


def test_argo_cd_is_where_the_cluster_says() -> None:
    """An installation of its own is as sensitive as the release's."""
    changes = egress(namespaces=["argo"])
    changes[CLUSTER]["argocd"] = {"namespace": "argo"}

    assert messages("isolation/egress-reaches-platform", changes) == [
        "egress `x` lets every team reach `argo`, where Argo CD runs"
    ]


@pytest.mark.parametrize(
    ("to", "count"),
    [
        (["10.0.0.0/8"], 0),
        (["10.0.0.0/8", "10.1.0.0/16"], 0),
        (["10.0.0.0/8", "11.0.0.0/32"], 1),
        (["0.0.0.0/1"], 1),
    ],
)
def test_ranges_of_one_way_out_are_summed(to: list[str], count: int) -> None:
    """An address counts once, and a /8 is the most."""
    assert len(messages("isolation/open-egress", egress(to=to))) == count


def test_way_out_to_a_namespace_needs_no_addresses() -> None:
    """Either kind of destination will do."""
    assert messages("isolation/open-egress", egress(namespaces=["openshift-dns"])) == []
    assert messages("isolation/open-egress", egress()) == [
        "egress `x` says neither `to` nor `namespaces`: port 443 of every host"
    ]
