"""Paths between namespaces, as the API reference of NetworkPolicy defines them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.pages import content, parse
from trainyard.report.classes import classes
from trainyard.report.network import network
from trainyard.report.policies import Namespace, namespaces, paths

Policy = dict[str, Any]
JOB, NAME = "jobset.sigs.k8s.io/jobset-name", "kubernetes.io/metadata.name"
NAMES = [f"ns-{number:02}" for number in range(20)]
JOBS = {"matchExpressions": [{"key": JOB, "operator": "Exists"}]}
WORKSPACES = {"matchExpressions": [{"key": JOB, "operator": "DoesNotExist"}]}


def named(*names: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": NAME, "operator": "In", "values": list(names)}]}


PEERS = st.one_of(
    st.just({"podSelector": {}}),
    st.just({"namespaceSelector": {}, "podSelector": JOBS}),
    st.just({"ipBlock": {"cidr": "203.0.113.0/28"}}),
    st.lists(st.sampled_from(NAMES[:3]), min_size=1, max_size=2).map(
        lambda names: {"namespaceSelector": named(*names)}
    ),
)
PORTS = st.sampled_from([[], [{"port": 443, "protocol": "TCP"}], [{"port": 53, "protocol": "UDP"}]])


def rules(side: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    rule = st.fixed_dictionaries({side: st.lists(PEERS, max_size=2), "ports": PORTS})
    return st.lists(rule, max_size=2)


POLICIES = st.lists(
    st.fixed_dictionaries(
        {
            "podSelector": st.sampled_from([{}, JOBS, WORKSPACES]),
            "policyTypes": st.sampled_from([["Ingress"], ["Egress"], ["Ingress", "Egress"]]),
            "ingress": rules("from"),
            "egress": rules("to"),
        }
    ),
    max_size=3,
)


def namespace(name: str, *policies: Policy) -> Namespace:
    return Namespace(name, {NAME: name}, policies)


def denied(**rules: Any) -> Policy:
    return {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], **rules}


def test_namespaces_without_policies_are_open() -> None:
    assert paths(namespace("a"), namespace("b")) == ("all pods to all pods, all ports",)


@pytest.mark.parametrize("direction", ["Ingress", "Egress"])
def test_one_denied_direction_closes_the_path(direction: str) -> None:
    policy = {"podSelector": {}, "policyTypes": [direction]}
    closed = namespace("a", policy)
    ends = (namespace("b"), closed) if direction == "Ingress" else (closed, namespace("b"))

    assert paths(*ends) == ()
    assert paths(*reversed(ends)) == ("all pods to all pods, all ports",)


def test_both_directions_must_open_the_same_ports() -> None:
    to_b = denied(egress=[{"to": [{"namespaceSelector": named("b")}], "ports": [{"port": 443}]}])
    web = denied(ingress=[{"from": [{"namespaceSelector": {}}], "ports": [{"port": 443}]}])
    name_server = denied(ingress=[{"from": [{"namespaceSelector": {}}], "ports": [{"port": 53}]}])

    assert paths(namespace("a", to_b), namespace("b", web)) == ("all pods to all pods, TCP 443",)
    assert paths(namespace("a", to_b), namespace("b", name_server)) == ()
    assert paths(namespace("a", to_b), namespace("c", web)) == ()


def test_selector_of_pods_alone_is_the_own_namespace() -> None:
    policy = denied(
        ingress=[{"from": [{"podSelector": JOBS}]}], egress=[{"to": [{"podSelector": {}}]}]
    )
    one, two = namespace("a", policy), namespace("b", policy)

    assert paths(one, one) == ("jobs to all pods, all ports",)
    assert paths(one, two) == ()


@given(POLICIES, POLICIES)
def test_path_is_open_exactly_if_both_ends_allow_it(one: list[Policy], two: list[Policy]) -> None:
    """Compared with each pair of pods and each port, judged one by one."""
    source, target = namespace("ns-00", *one), namespace("ns-01", *two)
    expected = {
        (sends, receives, port)
        for sends in (True, False)
        for receives in (True, False)
        for port in (("TCP", 443), ("UDP", 53), ("TCP", 80))
        if _lets(source, "Egress", sends, (target.name, receives), port)
        and _lets(target, "Ingress", receives, (source.name, sends), port)
    }

    assert bool(paths(source, target)) == bool(expected)
    assert (paths(source, target) == ("all pods to all pods, all ports",)) <= (len(expected) == 12)


def _lets(
    own: Namespace,
    direction: str,
    is_job: bool,
    peer: tuple[str, bool],
    port: tuple[str, int],
) -> bool:
    """Judge one packet by the words of the API reference."""
    chosen = [
        policy
        for policy in own.policies
        if direction in policy["policyTypes"] and _selects(policy["podSelector"], is_job)
    ]
    rules = [rule for policy in chosen for rule in policy[direction.lower()]]
    return not chosen or any(
        _admits(rule.get("to", rule.get("from", [])), own.name, peer)
        and (not rule["ports"] or any((p["protocol"], p["port"]) == port for p in rule["ports"]))
        for rule in rules
    )


def _admits(peers: list[dict[str, Any]], own: str, other: tuple[str, bool]) -> bool:
    for each in peers:
        if "ipBlock" not in each:
            spaces = each.get("namespaceSelector", named(own))
            values = spaces["matchExpressions"][0]["values"] if spaces else [other[0]]
            if other[0] in values and _selects(each.get("podSelector", {}), other[1]):
                return True
    return not peers


def _selects(selector: dict[str, Any], is_job: bool) -> bool:
    return selector == {} or (selector == JOBS) == is_job


@given(st.lists(POLICIES, min_size=1, max_size=3), st.data())
def test_members_of_a_class_have_the_same_paths(kinds: list[list[Policy]], data: Any) -> None:
    """What the matrix shows of one member holds for every other member."""
    chosen = [data.draw(st.sampled_from(kinds)) for _ in NAMES]
    found = [namespace(name, *policies) for name, policies in zip(NAMES, chosen, strict=True)]
    grouped = classes(found, dict.fromkeys(NAMES, ()))

    assert sorted(each.name for group in grouped for each in group.members) == NAMES
    matrix = {(one.name, two.name): paths(one, two) for one in found for two in found}
    for group in grouped:
        first = group.members[0].name
        for each in (member.name for member in group.members):
            assert matrix[each, each] == matrix[first, first]
            for other in set(NAMES) - {each, first}:
                assert matrix[each, other] == matrix[first, other]
                assert matrix[other, each] == matrix[other, first]


def test_few_namespaces_are_shown_one_by_one() -> None:
    found = [namespace(name) for name in NAMES[:4]]

    assert [each.name for each in classes(found, {})] == NAMES[:4]


def test_namespaces_that_share_a_partition_are_in_no_class_with_others() -> None:
    found = [namespace(name) for name in NAMES]
    bonds = dict.fromkeys(NAMES, ()) | {"ns-03": ("ib ns-04",), "ns-04": ("ib ns-03",)}
    alone = {each.name for each in classes(found, bonds) if len(each.members) == 1}

    assert alone == {"ns-03", "ns-04"}


def test_no_team_of_this_repository_reaches_another() -> None:
    """Every cell between teams is closed, and jobs reach each other inside of a namespace."""
    for cluster in content().clusters:
        teams = {
            space.namespace: tenant.name
            for tenant in cluster.site.tenants
            for space in tenant.spaces
        }
        found = [each for each in namespaces(cluster.manifests) if each.name in teams]
        assert len(found) == len(teams)
        for one in found:
            assert paths(one, one)
            for two in found:
                assert one is two or not paths(one, two)


def test_matrix_marks_rdma_between_namespaces_of_one_team() -> None:
    parsed = parse(f"<html>{network(content())}</html>".encode())
    cells = [tag for tag in parsed.all("td") if "section" in tag.parents]
    own = [tag.text for tag in cells if tag.attributes.get("class") == "own"]

    assert own.count("same team: RDMA on roce") == 2
    assert not [tag for tag in cells if tag.attributes.get("class") == "open"]
    assert "egress to 203.0.113.0/28, TCP 443" in [tag.text for tag in parsed.all("th")]
