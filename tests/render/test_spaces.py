"""What a cluster gets of a team's further namespace, and of networks that an operator writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from ipaddress import IPv4Network
from typing import Any

import pytest

from tests.resolve.changes import CLUSTER, NLP, ROCE, together
from tests.rules.cases import platform_of
from trainyard.generation.objects import check_tree
from trainyard.model.manifest import Manifest
from trainyard.render.site import render_site

SPACES: dict[str, Any] = {
    NLP: {
        "spaces": {
            "dev": {
                "largestJob": {"nodes": 2},
                "priorities": ["batch"],
                "storage": {"home": "100Gi"},
            }
        }
    }
}
PLAIN = {CLUSTER: {"release": "kubernetes-1.36", "argocd": None}}
"""The release whose addresses on the rails come from pools."""

NAMESPACES = ["team-nlp", "team-nlp-dev"]


@cache
def tree(name: str) -> tuple[Manifest, ...]:
    """Return what is rendered of the base with a second namespace, on InfiniBand, RoCE, or RoCE
    with pools."""
    changes = {
        "infiniband": SPACES,
        "roce": together(SPACES, ROCE),
        "pools": together(SPACES, ROCE, PLAIN),
    }[name]
    (site,) = platform_of(changes).sites
    manifests = tuple(render_site(site))
    assert [each.message for each in check_tree(site, manifests)] == []
    return manifests


def of(name: str, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a kind that are the first team's, by its label or namespace."""
    for each in tree(name):
        labels = each.body.get("metadata", {}).get("labels", {})
        if each.body["kind"] == kind and labels.get("ml.example.com/team") == "nlp":
            yield each.body


def names(name: str, kind: str) -> list[tuple[str, str]]:
    """Return namespace and name of the first team's objects of a kind."""
    return sorted(
        (body["metadata"].get("namespace", ""), body["metadata"]["name"]) for body in of(name, kind)
    )


TREES = pytest.mark.parametrize("name", ["infiniband", "roce", "pools"])


@TREES
def test_every_object_has_a_file_of_its_own(name: str) -> None:
    """Objects of two namespaces may have one name; their files lie in one folder."""
    paths = [each.path for each in tree(name)]

    assert len(paths) == len(set(paths))


@TREES
@pytest.mark.parametrize(
    "kind",
    ["LimitRange", "LocalQueue", "NetworkPolicy", "ResourceQuota", "RoleBinding", "ServiceAccount"],
)
def test_second_namespace_is_as_closed_as_the_first(name: str, kind: str) -> None:
    """It has the same queues, limits, policies, roles and accounts, each in its own namespace."""
    found = names(name, kind)
    own, dev = ([each for where, each in found if where == namespace] for namespace in NAMESPACES)

    assert own == dev != []
    assert len(own) + len(dev) == len(found)


@TREES
def test_namespaces_of_a_team_share_one_queue(name: str) -> None:
    """Quota is the team's: one ClusterQueue admits from both namespaces, by the label that no
    tenant can set."""
    (queue,) = of(name, "ClusterQueue")
    (selector,) = queue["spec"]["namespaceSelector"]["matchExpressions"]

    assert selector == {
        "key": "kubernetes.io/metadata.name",
        "operator": "In",
        "values": NAMESPACES,
    }
    assert {local["spec"]["clusterQueue"] for local in of(name, "LocalQueue")} == {
        queue["metadata"]["name"]
    }


@TREES
def test_second_namespace_is_held_to_its_own_limits(name: str) -> None:
    """Priorities and the largest job are its own; a binding leads to them from this namespace and
    no other."""
    limits = {body["metadata"]["name"]: body["data"] for body in of(name, "ConfigMap")}
    bindings = {
        body["spec"]["matchResources"]["namespaceSelector"]["matchLabels"][
            "kubernetes.io/metadata.name"
        ]: body["spec"]
        for body in of(name, "ValidatingAdmissionPolicyBinding")
    }

    assert {where: each["paramRef"]["name"] for where, each in bindings.items()} == {
        "team-nlp": "trainjob-limits-nlp",
        "team-nlp-dev": "trainjob-limits-nlp-dev",
    }
    own, dev = limits["trainjob-limits-nlp"], limits["trainjob-limits-nlp-dev"]
    assert (own["priorityClasses"], dev["priorityClasses"]) == ("batch production", "batch")
    assert own[f"maxNodes.{own['runtimes']}"] == "4"
    assert dev[f"maxNodes.{dev['runtimes']}"] == "2"


@TREES
def test_second_namespace_has_storage_of_its_own(name: str) -> None:
    """It has the claims that it asks for and no others; a claim's volume is kept for its
    namespace."""
    volumes = {
        body["spec"]["claimRef"]["namespace"]: body["metadata"]["name"]
        for body in of(name, "PersistentVolume")
    }

    assert names(name, "PersistentVolumeClaim") == [
        ("team-nlp", "home"),
        ("team-nlp", "scratch"),
        ("team-nlp-dev", "home"),
    ]
    assert volumes == {"team-nlp": "prod-east-nlp-home", "team-nlp-dev": "prod-east-nlp-dev-home"}


@pytest.mark.parametrize(
    ("stated", "option"),
    [({}, ["nconnect=4"]), ({"connections": 16}, ["nconnect=16"]), ({"connections": 1}, [])],
    ids=["default", "sixteen", "one"],
)
def test_nodes_mount_an_export_with_several_connections(
    stated: dict[str, int], option: list[str]
) -> None:
    export = {"server": "nfs.example.com", "path": "/export/home", **stated}
    (site,) = platform_of({CLUSTER: {"storage": {"home": {"nfs": export}}}}).sites
    volumes = [each.body for each in render_site(site) if each.kind.name == "PersistentVolume"]

    assert volumes
    for each in volumes:
        assert each["spec"]["mountOptions"] == ["nfsvers=4.1", "hard", *option]


@TREES
def test_project_of_a_team_admits_its_namespaces_alone(name: str) -> None:
    """Argo CD writes what is the team's into both, and nothing anywhere else."""
    (project,) = of(name, "AppProject")

    assert [each["namespace"] for each in project["spec"]["destinations"]] == NAMESPACES
    assert project["spec"]["clusterResourceWhitelist"] == [
        {"group": "", "kind": "Namespace", "name": namespace} for namespace in NAMESPACES
    ]


def test_second_namespace_has_the_teams_partition() -> None:
    """On InfiniBand the attachments are ours and called the same in each namespace, with the team's
    own key."""
    networks = list(of("infiniband", "NetworkAttachmentDefinition"))
    configs = [json.loads(network["spec"]["config"]) for network in networks]

    assert names("infiniband", "NetworkAttachmentDefinition") == [
        (namespace, f"ib-rail-{rail}") for namespace in NAMESPACES for rail in range(8)
    ]
    assert {config["pkey"] for config in configs} == {"0x0101"}
    assert len({config["ipam"]["network_name"] for config in configs}) == 8


@pytest.mark.parametrize("name", ["roce", "pools"])
def test_networks_of_an_operator_lead_to_their_namespace(name: str) -> None:
    """All are where the SR-IOV operator reads, with the team's VLAN, on the host's side; no NAD
    of ours beside."""
    networks = list(of(name, "SriovNetwork"))
    policies = {
        each.body["spec"]["resourceName"]
        for each in tree(name)
        if "resourceName" in each.body.get("spec", {})
    }

    assert names(name, "NetworkAttachmentDefinition") == []
    assert sorted(
        (each["spec"]["networkNamespace"], each["metadata"]["name"]) for each in networks
    ) == [
        (namespace, f"{namespace}-ib-rail-{rail}") for namespace in NAMESPACES for rail in range(8)
    ]
    assert len({each["metadata"]["namespace"] for each in networks}) == 1
    assert {each["spec"]["vlan"] for each in networks} == {101}
    assert {(each["spec"]["spoofChk"], each["spec"]["trust"]) for each in networks} == {
        ("on", "off")
    }
    assert {each["spec"]["resourceName"] for each in networks} <= policies
    sysctls = {"arp_announce": "2", "arp_ignore": "1"}
    tuning = {f"net.ipv4.conf.IFNAME.{name}": value for name, value in sysctls.items()}
    assert {f"[{each['spec']['metaPlugins']}]" for each in networks} == {
        json.dumps([{"type": "rdma"}, {"type": "tuning", "sysctl": tuning}], separators=(",", ":"))
    }


@pytest.mark.parametrize("name", ["roce", "pools"])
def test_pods_name_the_networks_of_their_namespace(name: str) -> None:
    """A runtime that names networks is one namespace's, and its limits list it alone."""
    runtimes = {
        each.name: each.body for each in tree(name) if each.body["kind"] == "ClusterTrainingRuntime"
    }
    for limits, namespace in (
        ("trainjob-limits-nlp", "team-nlp"),
        ("trainjob-limits-nlp-dev", "team-nlp-dev"),
    ):
        (allowed,) = (
            body["data"]["runtimes"]
            for body in of(name, "ConfigMap")
            if body["metadata"]["name"] == limits
        )
        named = json.dumps(runtimes[allowed])
        networks = ",".join(f"{namespace}-ib-rail-{rail}" for rail in range(8))

        assert f'"k8s.v1.cni.cncf.io/networks": "{networks}"' in named


def test_addresses_come_from_one_pool_a_rail() -> None:
    """With nv-ipam a pool is the team's on a rail; both namespaces name it, and together they are
    the team's block."""
    pools = {body["metadata"]["name"]: body["spec"] for body in of("pools", "IPPool")}
    named = [json.loads(network["spec"]["ipam"]) for network in of("pools", "SriovNetwork")]
    block = IPv4Network("10.64.0.0/20")

    assert sorted(each["poolName"] for each in named) == sorted([*pools, *pools])
    assert len(pools) == 8
    assert {IPv4Network(spec["subnet"]) for spec in pools.values()} == set(
        block.subnets(new_prefix=23)
    )
    assert {body["metadata"]["namespace"] for body in of("pools", "IPPool")} == {
        "nvidia-network-operator"
    }


def test_addresses_without_pools_stand_in_the_attachment() -> None:
    """With whereabouts no pool is rendered, and both namespaces name one range under one name."""
    named = [json.loads(network["spec"]["ipam"]) for network in of("roce", "SriovNetwork")]

    assert list(of("roce", "IPPool")) == []
    assert len({(each["range"], each["network_name"]) for each in named}) == 8
    assert len(named) == 16


def test_operator_gets_the_type_of_the_link() -> None:
    """A port that is of the other link is never set up: the operator looks for the type."""
    links = {
        name: {
            each.body["spec"]["linkType"]
            for each in tree(name)
            if each.body["kind"] == "SriovNetworkNodePolicy"
        }
        for name in ("infiniband", "roce")
    }

    assert links == {"infiniband": {"ib"}, "roce": {"eth"}}


@pytest.mark.parametrize(("name", "prefix"), [("roce", "openshift.io"), ("pools", "nvidia.com")])
def test_rails_have_the_prefix_of_the_release(name: str, prefix: str) -> None:
    """Queue and pods name a resource as the device plugin does."""
    (queue,) = of(name, "ClusterQueue")
    covered = queue["spec"]["resourceGroups"][0]["coveredResources"]
    (runtime,) = (each.body for each in tree(name) if each.name == "openmpi-cuda-v1-dgx-h100-nlp")

    assert [each for each in covered if "rail" in each] == [
        f"{prefix}/ib_rail_{rail}" for rail in range(8)
    ]
    assert all(f'"{each}": "1"' in json.dumps(runtime) for each in covered if "rail" in each)


def test_mtu_is_emitted_only_if_stated() -> None:
    """An MTU is emitted only if it is stated; it is then in each rail's policy."""
    changes = together(ROCE, {CLUSTER: {"fabrics": {"ib": {"mtu": 9000}}}})
    policies = [
        each.body
        for each in render_site(platform_of(changes).sites[0])
        if each.body["kind"].endswith("NodePolicy")
    ]

    assert {policy["spec"]["mtu"] for policy in policies} == {9000}
    assert not [each for each in tree("roce") if "mtu" in each.body.get("spec", {})]
