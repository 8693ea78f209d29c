"""Network paths on both sides of a change, from whole trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from tests.change.impact.paths import HERE, PATHS, POLICIES, is_open
from tests.change.impact.platforms import CLUSTER, LEDGER, NLP, VISION, sides, tree, two
from trainyard.change.impact.attachments import AddressChange, address_changes
from trainyard.change.impact.network import path_changes
from trainyard.change.impact.policies import EGRESS, INGRESS
from trainyard.change.impact.remaining import on_cluster
from trainyard.change.objects import Sides

STORE: dict[str, Any] = {"to": ["203.0.113.0/28"], "ports": [443]}
TEAMS = ("team-nlp", "team-vision")


def egress(**rule: Any) -> dict[str, Any]:
    return {CLUSTER: {"egress": {"object-store": STORE | rule}}}


def found(change: Sides) -> list[tuple[str, str, tuple[str, ...]]]:
    return [
        ("opens" if each.opened else "closes", each.path, each.namespaces)
        for each in path_changes(change)
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {NLP: {"contact": "someone@example.com"}}, []),
        ({}, egress(ports=[443, 8443]), [("opens", "egress to 203.0.113.0/28, TCP 8443", TEAMS)]),
        (
            {},
            egress(to=["203.0.113.0/27"]),
            [("opens", "egress to 203.0.113.16/28, TCP 443", TEAMS)],
        ),
        (
            egress(to=["203.0.113.0/27"]),
            egress(to=["203.0.113.0/29", "10.9.0.0/16"], ports=[80, 443]),
            [
                ("opens", "egress to 10.9.0.0/16, TCP 80, 443", TEAMS),
                ("closes", "egress to 203.0.113.8/29, 203.0.113.16/28, TCP 443", TEAMS),
                ("opens", "egress to 203.0.113.0/29, TCP 80", TEAMS),
            ],
        ),
        (
            {},
            egress(**{"from": "jobs"}),
            [("closes", "egress of workspaces to 203.0.113.0/28, TCP 443", TEAMS)],
        ),
        (
            {},
            egress(to=None, namespaces=["ml-mirror"]),
            [
                ("closes", "egress to 203.0.113.0/28, TCP 443", TEAMS),
                ("opens", "egress to pods of ml-mirror, TCP 443", TEAMS),
            ],
        ),
        (
            {},
            {LEDGER: {"prod-east": {"ib": {"nlp": {"partition": "0x0105"}}}}},
            [
                ("closes", "partition 0x0101 of fabric ib, rails 0-7, 10.64.0.0/20", ("team-nlp",)),
                ("opens", "partition 0x0105 of fabric ib, rails 0-7, 10.64.0.0/20", ("team-nlp",)),
            ],
        ),
    ],
)
def test_edit_of_profiles(
    before: dict[str, Any], after: dict[str, Any], expected: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    """Only what becomes reachable or unreachable has a line, and all namespaces share it."""
    assert sorted(found(sides(before, after))) == sorted(expected)


def test_other_addresses_open_nothing() -> None:
    """The segment is the same, and so is who reaches whom."""
    change = sides({}, {LEDGER: {"prod-east": {"ib": {"nlp": {"addresses": "10.64.48.0/20"}}}}})
    segment = "partition 0x0101 of fabric ib, rails 0-7"

    assert found(change) == []
    assert address_changes(change) == (
        AddressChange(("team-nlp",), segment, "10.64.0.0/20", "10.64.48.0/20"),
    )


def test_new_namespace_opens_what_its_policies_allow() -> None:
    """Nothing is open beside that."""
    lines = found(sides({}, {NLP: {"spaces": {"interactive": {}}}}))

    assert {namespaces for _, _, namespaces in lines} == {("team-nlp-interactive",)}
    assert {path for opens, path, _ in lines if opens == "opens"} >= {
        "egress to 203.0.113.0/28, TCP 443",
        "egress of jobs to jobs of its own namespace",
        "partition 0x0101 of fabric ib, rails 0-7, 10.64.0.0/20",
    }
    assert not any("all traffic" in path for _, path, _ in lines)


def test_namespace_that_is_left_behind_keeps_its_paths() -> None:
    """Argo CD deletes nothing of a unit without a folder."""
    change = sides({}, {VISION: {"state": "retired"}})

    assert found(on_cluster(change)) == []
    assert found(change) == [
        ("closes", "all traffic: the namespace is deleted", ("team-vision",)),
        ("closes", "partition 0x0102 of fabric ib, rails 0-7, 10.64.16.0/20", ("team-vision",)),
    ]


def test_space_that_is_left_behind_is_open() -> None:
    """Its namespace stays (`Prune=false`), and its policies go."""
    change = sides({NLP: {"spaces": {"debug": {}}}}, {})

    assert found(on_cluster(change)) == [
        ("opens", "all traffic from all pods", ("team-nlp-debug",)),
        ("opens", "all traffic to all pods", ("team-nlp-debug",)),
        ("closes", "partition 0x0101 of fabric ib, rails 0-7, 10.64.0.0/20", ("team-nlp-debug",)),
    ]


def test_paths_of_mpi_jobs_are_apart_from_those_of_workspaces() -> None:
    """With the time for MPIJobs, their pods leave the workspaces', among which they were."""
    time = {NLP: {"mpiJobs": {"prod-east": {"until": "2027-01-31"}}}}

    paths = {(way, path) for way, path, _ in found(sides({}, time))}
    assert ("closes", "egress of MPIJobs to workspaces of its own namespace") in paths
    assert not [path for _, path in paths if "training.kubeflow.org" in path]


def policies_of(change: Sides, *names: str) -> Sides:
    """Return the change with only some of the policies of one team afterwards."""
    after = {
        key: each
        for key, each in change.after.items()
        if (key.kind, key.namespace) != ("NetworkPolicy", "team-nlp") or key.name in names
    }
    return replace(change, after=after)


def test_deleted_isolation_is_called_all_traffic() -> None:
    """It is one line for each direction, whatever was open before, and not a list of the rest."""
    assert found(policies_of(sides({}, {}))) == [
        ("opens", "all traffic from all pods", ("team-nlp",)),
        ("opens", "all traffic to all pods", ("team-nlp",)),
    ]
    assert found(policies_of(sides({}, {}), "dns", "jobs", "workspaces")) == [
        ("opens", "all traffic to jobs", ("team-nlp",)),
        ("closes", "egress to 203.0.113.0/28, TCP 443", ("team-nlp",)),
    ]


def policy(name: int, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": f"p{name}", "namespace": HERE},
        "spec": spec,
    }


@given(POLICIES, POLICIES)
def test_a_line_appears_exactly_when_a_path_becomes_open_or_closed(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    """The paths are judged one by one, as a network plugin does."""
    sides_of = [tree(*(policy(i, each) for i, each in enumerate(side))) for side in (before, after)]
    changes = path_changes(two(sides_of[0], sides_of[1]))
    judged = {
        (is_open(before, way, path), is_open(after, way, path))
        for way in (INGRESS, EGRESS)
        for path in PATHS
    }

    assert any(each.opened for each in changes) is ((False, True) in judged)
    assert any(not each.opened for each in changes) is ((True, False) in judged)
    assert all(each.namespaces == (HERE,) and "\n" not in each.path for each in changes)


@pytest.mark.parametrize("config", ["{", "[]", '{"ipam": "x", "pkey": 1}'])
def test_attachment_of_the_wrong_shape_is_no_fault(config: str) -> None:
    """A committed file may have been edited by hand."""
    definition = {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": "ib-rail-0", "namespace": HERE},
        "spec": {"config": config},
    }

    assert [each.opened for each in path_changes(two(tree(definition), {}))] == [False]
