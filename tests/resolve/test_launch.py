"""Which runtimes a namespace's jobs may use on which nodes, and how large the jobs may be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolve.changes import (
    ALLOCATIONS,
    CLUSTER,
    HARDWARE,
    NLP,
    ROCE,
    RUNTIME,
    VISION,
    resolved,
    space,
    together,
)
from tests.resolve.test_tenant import BOTH
from trainyard.model.space import Grant


def kind(name: str, extends: str = "nvidia-dgx-h100", **changes: Any) -> dict[str, Any]:
    """Return a further kind of DGX with a pool of it, of which the first team has two nodes."""
    hardware = {"extends": extends, "labels": {"kind": name}}
    return {
        f"hardware/{name}.yaml": together(hardware, changes),
        CLUSTER: {"pools": {name: {"nodes": 3, "reserve": 1, "fabric": "ib"}}},
        NLP: {"quota": {"prod-east": {name: {"nodes": 2}}}},
    }


def with_kinds(*kinds: dict[str, Any], runs_on: list[str]) -> dict[str, Any]:
    """Return the base, where launcher and nodes are one group, with further kinds of node and a
    runtime for some."""
    return together(
        {CLUSTER: {"release": "kubernetes-1.36"}, RUNTIME: {"hardware": runs_on}}, *kinds
    )


def grants(changes: dict[str, Any], name: str = "") -> dict[str, Grant]:
    """Return what a namespace may use, by the name of the runtime object; each name stands for
    one."""
    found = {grant.launch.name: grant for grant in space(changes, name).grants}
    assert len(found) == len(space(changes, name).grants)
    return found


def test_launch_is_one_a_hardware_profile() -> None:
    """Two pools of one profile share a runtime object; hardware that the runtime doesn't list has
    none."""
    assert sorted(grants(BOTH)) == ["openmpi-cuda-v1-cpu", "openmpi-cuda-v1-dgx-h100"]
    only_gpu = {**BOTH, RUNTIME: {"hardware": ["dgx-h100"]}}
    assert list(grants(only_gpu)) == ["openmpi-cuda-v1-dgx-h100"]


def test_pods_of_a_kind_stay_on_its_nodes() -> None:
    """A queue may have several kinds of node as flavors: the labels keep the pods of one kind's
    runtime there."""
    given_ = grants(with_kinds(kind("h200"), runs_on=["dgx-h100", "h200"]))

    assert given_["openmpi-cuda-v1-h200"].launch.node_selector == {"kind": "h200"}
    assert given_["openmpi-cuda-v1-dgx-h100"].launch.node_selector == {
        "ml.example.com/node-type": "dgx-h100"
    }
    assert [each.name for each in space(with_kinds(kind("h200"), runs_on=["dgx-h100"])).queues] == [
        "nlp-gpu"
    ]


def test_runtime_on_interchangeable_nodes_has_an_object_for_any_of_them() -> None:
    """It selects no node and asks for what the smaller kind gives, so that Kueue may choose the
    flavor."""
    smaller = kind("h200", memory="1Ti", extends="nvidia-dgx-h200")
    given_ = grants(with_kinds(smaller, runs_on=["dgx-h100", "h200"]))
    anywhere = given_["openmpi-cuda-v1-gpu"].launch

    assert sorted(given_) == [
        "openmpi-cuda-v1-dgx-h100",
        "openmpi-cuda-v1-gpu",
        "openmpi-cuda-v1-h200",
    ]
    assert anywhere.node_selector == {}
    assert anywhere.per_node == given_["openmpi-cuda-v1-h200"].launch.per_node
    assert given_["openmpi-cuda-v1-gpu"].nodes == max(each.nodes for each in given_.values())


STEP = "registry.example.com/ml/initializer@sha256:bb22cc33dd44ee55ff66007788990a1b2c3d4e5f60718293a4b5c6d7e8f9aa11"  # noqa: E501 - one value


@pytest.mark.parametrize(
    ("apart", "changes"),
    [
        (True, {CLUSTER: {"release": "openshift-ai-3.5"}}),
        (False, {CLUSTER: {"release": "openshift-ai-3.5"}, RUNTIME: {"launcher": "torchrun"}}),
        (True, {RUNTIME: {"initialize": {"image": STEP, "volume": "scratch", "dataset": True}}}),
    ],
    ids=["launcher", "one pod set", "step"],
)
def test_pods_that_kueue_places_apart_have_no_object_for_any(
    apart: bool, changes: dict[str, Any]
) -> None:
    """Each would be given a kind of its own, and a job of which a part fits would hold up its
    queue."""
    found = grants(together(with_kinds(kind("h200"), runs_on=["dgx-h100", "h200"]), changes))

    assert len(found) == 2 + (not apart)
    assert apart == ("openmpi-cuda-v1-gpu" not in found)


APART: dict[str, dict[str, Any]] = {
    "processors": {"arch": "arm64"},
    "gpus": {"gpu": {"count": 1}, "nics": [{"pci": "0000:18:00.0", "role": "rail", "gpu": 0}]},
    "rails": {"nics": [{"pci": f"0000:{18 + i}:00.0", "role": "rail", "gpu": i} for i in range(4)]},
}


@pytest.mark.parametrize("difference", APART)
def test_nodes_that_differ_in_what_a_pod_names_are_not_interchangeable(difference: str) -> None:
    """A pod asks for GPUs and rails by name and number: no template fits kinds with others."""
    other = with_kinds(kind("other", **APART[difference]), runs_on=["dgx-h100", "other"])

    assert sorted(grants(other)) == ["openmpi-cuda-v1-dgx-h100", "openmpi-cuda-v1-other"]


def test_nodes_on_another_fabric_are_not_interchangeable() -> None:
    """A pod's networks are one fabric's."""
    other: dict[str, Any] = with_kinds(kind("h200"), runs_on=["dgx-h100", "h200"])
    fabric = {"link": "infiniband", "partitions": "0x0200-0x0210", "addresses": "10.72.0.0/13"}
    held = {"partition": "0x0201", "addresses": "10.72.0.0/20"}
    changes = {
        CLUSTER: {"fabrics": {"west": fabric}, "pools": {"h200": {"fabric": "west"}}},
        ALLOCATIONS: {"prod-east": {"west": {"nlp": held}}},
    }

    assert sorted(grants(together(other, changes))) == [
        "openmpi-cuda-v1-dgx-h100",
        "openmpi-cuda-v1-h200",
    ]


def test_runtime_that_runs_on_some_kinds_only_has_no_object_for_any() -> None:
    """A pod without selector may land on every kind of the queue."""
    two = together(kind("h200"), kind("b200"))

    assert sorted(grants(with_kinds(two, runs_on=["dgx-h100", "h200"]))) == [
        "openmpi-cuda-v1-dgx-h100",
        "openmpi-cuda-v1-h200",
    ]


def test_teams_share_the_object_for_any_kind() -> None:
    """Whatever kinds a team has of those that are alike, one name is one object: else one team's
    would win."""
    kinds = together(kind("h200", memory="1Ti"), kind("b200", memory="512Gi"))
    both = together(
        with_kinds(kinds, runs_on=["dgx-h100", "h200", "b200"]),
        {NLP: {"quota": {"prod-east": {"b200": None}}}},
    )
    platform, found = resolved(
        together(both, {VISION: {"quota": {"prod-east": {"b200": {"nodes": 2}}}}})
    )
    launches = [
        launch
        for tenant in platform.sites[0].tenants
        for each in tenant.spaces
        for launch in each.launches
    ]

    assert found == ()
    assert len([launch for launch in launches if launch.name == "openmpi-cuda-v1-gpu"]) == 2
    assert len({launch.name for launch in launches}) == len(platform.sites[0].launches)
    assert all(launch in platform.sites[0].launches for launch in launches)


def share(gpus: int, borrow: int = 0, **runtime: Any) -> dict[str, Any]:
    """Return the base with a share of one node."""
    return {
        NLP: {
            "quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": gpus, "borrow": borrow}}},
            "largestJob": None,
        },
        RUNTIME: {"maxNodes": 16, **runtime},
    }


TORCHRUN: dict[str, Any] = {
    "launcher": "torchrun",
    "libraries": {"openmpi": None, "torch": "2.6.0"},
}


@given(st.integers(1, 7), st.integers(0, 7), st.sampled_from([1, 2]))
def test_share_of_a_node_is_one_job_of_equal_parts(gpus: int, borrow: int, pods: int) -> None:
    """The smallest job takes the whole share, borrowed GPUs are more of its parts, up to a node of
    them in all."""
    given_ = grants(share(gpus, borrow, **(TORCHRUN if pods == 1 else {})))
    if gpus % pods:
        assert given_ == {}
        return
    ((name, grant),) = given_.items()
    each = gpus // pods
    most = min(gpus + borrow, 8) // each

    assert name == f"openmpi-cuda-v1-dgx-h100-{each}gpu"
    assert grant.launch.gpus * pods == gpus
    assert (grant.nodes, grant.gpus) == (most, most * each)


def test_share_of_a_node_ends_at_the_cap_of_the_runtime() -> None:
    """A runtime's own cap counts pods, of whatever size."""
    (grant,) = grants(share(2, 6, maxNodes=3)).values()

    assert (grant.nodes, grant.launch.gpus) == (3, 1)


@given(st.integers(1, 4), st.integers(0, 4), st.integers(1, 8), st.integers(1, 8))
def test_largest_job_is_the_smallest_of_all_that_limits_it(
    own: int, borrow: int, cap: int, job: int
) -> None:
    """What the namespace admits, what the runtime was tested with, and what the team reaches of one
    pool."""
    quota = {
        "quota": {"prod-east": {"dgx-h100": {"nodes": own, "borrow": borrow}}},
        "largestJob": {"nodes": job},
    }
    given_ = grants({NLP: quota, RUNTIME: {"maxNodes": cap}})
    most = min(job, cap, own + borrow)
    if most < min(2, cap):
        assert given_ == {}
        return
    (grant,) = given_.values()

    assert grant.nodes == most
    assert grant.gpus == grant.nodes * 8


def test_object_is_one_a_namespace_where_networks_have_names_of_their_own() -> None:
    """On RoCE a pod names the networks of its namespace, so each namespace has a runtime of its
    own, and no other."""
    changes = together(ROCE, {NLP: {"spaces": {"dev": {}}}})

    assert list(grants(changes)) == ["openmpi-cuda-v1-dgx-h100-nlp"]
    assert list(grants(changes, "dev")) == ["openmpi-cuda-v1-dgx-h100-nlp-dev"]


@pytest.mark.parametrize("mode", ["tcp", "isolated"])
def test_object_without_networks_is_everybodys(mode: str) -> None:
    """Who talks over sockets names no network, and shares the object on RoCE too."""
    changes = together(ROCE, {NLP: {"spaces": {"dev": {}}}, RUNTIME: {"fabric": mode}})

    assert list(grants(changes)) == list(grants(changes, "dev")) == ["openmpi-cuda-v1-dgx-h100"]


def test_hardware_of_another_name_has_an_object_of_that_name() -> None:
    """The object is called after the hardware profile, not after the pool."""
    pools = {
        "dgx-h100": None,
        "big": {"hardware": "dgx-h100", "nodes": 9, "reserve": 1, "fabric": "ib"},
    }
    teams = {
        team: {"quota": {"prod-east": {"dgx-h100": None, "big": {"nodes": 4}}}}
        for team in (NLP, VISION)
    }

    assert list(grants({CLUSTER: {"pools": pools}, HARDWARE: {"pods": 200}, **teams})) == [
        "openmpi-cuda-v1-dgx-h100"
    ]
