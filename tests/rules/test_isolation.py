"""Destinations of egress rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages

CLUSTER = "clusters/prod-east.yaml"


def egress(**fields: Any) -> dict[str, Any]:
    return {CLUSTER: {"egress": {"x": {"ports": [443], **fields}}}}


@pytest.mark.parametrize(
    ("ports", "service"),
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
def test_egress_to_ports_of_every_node_is_reported(ports: list[int], service: str) -> None:
    """Other ports of machines, such as the API server's, are permitted."""
    found = messages("isolation/egress-reaches-nodes", egress(to=["10.20.0.8/29"], ports=ports))

    overlap = (
        "egress rule `x` leads to 10.20.0.8/29, which overlaps 10.20.0.0/24 of the cluster's "
        "machines"
    )
    assert found == ([f"{overlap}, on {service}"] if service else [])


@pytest.mark.parametrize(
    ("namespace", "purpose"),
    [
        ("openshift-gitops", "where Argo CD runs"),
        ("openshift-sriov-network-operator", "where the SR-IOV operator runs"),
        ("kube-system", "where controllers run"),
        ("trainyard-system", "which holds the limits of all teams"),
        ("openshift-monitoring", ""),
    ],
)
def test_egress_to_namespaces_of_the_platform_is_reported(namespace: str, purpose: str) -> None:
    """The message has the purpose of the namespace."""
    found = messages("isolation/egress-reaches-platform", egress(namespaces=[namespace]))

    message = f"egress rule `x` lets every team reach `{namespace}`, {purpose}"
    assert found == ([message] if purpose else [])


def test_egress_to_the_clusters_own_argo_cd_is_reported() -> None:
    """The cluster's profile may give Argo CD another namespace than the release."""
    changes = egress(namespaces=["argo"])
    changes[CLUSTER]["argocd"] = {"namespace": "argo"}

    assert messages("isolation/egress-reaches-platform", changes) == [
        "egress rule `x` lets every team reach `argo`, where Argo CD runs"
    ]


@pytest.mark.parametrize(
    ("namespace", "rule", "message"),
    [
        ("argo", "", ""),
        ("openshift-dns", "", ""),
        ("openshift-gitops", "platform", "`openshift-gitops`, where Argo CD runs"),
        ("team-vision", "a-tenant", "the namespace of team vision"),
    ],
)
def test_name_servers_are_in_no_namespace_of_others(
    namespace: str, rule: str, message: str
) -> None:
    """That of the release is right, whatever else is in it."""
    changes = {CLUSTER: {"dns": {"namespace": namespace}}}
    found = {
        each: messages(f"isolation/egress-reaches-{each}", changes)
        for each in ("platform", "a-tenant")
    }

    wanted = {rule: [f"`dns` lets every team reach {message}"]} if rule else {}
    assert {each: lines for each, lines in found.items() if lines} == wanted


@pytest.mark.parametrize(
    ("to", "count"),
    [
        (["10.0.0.0/8"], 0),
        (["10.0.0.0/8", "10.1.0.0/16"], 0),
        (["10.0.0.0/8", "11.0.0.0/32"], 1),
        (["0.0.0.0/1"], 1),
    ],
)
def test_ranges_of_one_egress_rule_are_summed(to: list[str], count: int) -> None:
    """Each address counts once, and a /8 is the maximum."""
    assert len(messages("isolation/open-egress", egress(to=to))) == count


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        (["jobs"] * 3, ""),
        (["jobs"] * 4, "jobs"),
        (["all"] * 2 + ["jobs"] * 2, "jobs"),
        (["all"] + ["jobs"] * 2 + ["workspaces"] * 2, ""),
        (["all"] * 189, "all"),
    ],
)
def test_egress_rules_of_one_pod_are_summed(sources: list[str], found: str) -> None:
    """Policies add up: 189 rules of a /8 each are the Internet. The base has a small rule too."""
    rules = {
        f"r{i}": {"to": [f"{i + 1}.0.0.0/8"], "ports": [443], "from": source}
        for i, source in enumerate(sources)
        if i + 1 not in {127, 169}
    }
    reported = messages("isolation/open-egress", {CLUSTER: {"egress": rules}})

    assert len(reported) == bool(found)
    assert all(f" egress rules for {found} lead to " in each for each in reported)


def test_egress_rule_needs_namespaces_or_addresses() -> None:
    assert messages("isolation/open-egress", egress(namespaces=["openshift-dns"])) == []
    assert messages("isolation/open-egress", egress()) == [
        "egress rule `x` has neither `to` nor `namespaces`: port 443 of every host"
    ]
