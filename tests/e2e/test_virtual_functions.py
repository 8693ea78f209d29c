"""The SR-IOV policies of each tree, reconciled by the operator's own code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from itertools import chain

import pytest

from tests.e2e.virtual_functions import Body, node_objects, operated, promised, site_of
from trainyard.model.platform import Site
from trainyard.render.site import render_site

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("virtual-functions")]
CLUSTERS = ["profiles/lab", "profiles/prod-east", "examples/two-fabrics/profiles/south"]


@cache
def _site(path: str) -> Site:
    return site_of(*path.rsplit("/", 1))


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Site:
    """A cluster."""
    return _site(request.param)


all_clusters = pytest.mark.parametrize("site", CLUSTERS, indirect=True)


@all_clusters
def test_nodes_have_the_rails_of_their_profile(site: Site) -> None:
    """The operator sets up each rail with number, MTU and link, and no other port."""
    assert operated(site, node_objects(site)) == promised(site)


@all_clusters
def test_each_virtual_function_has_one_resource_name(site: Site) -> None:
    """A node with rails advertises eight resources; no port is in two of them."""
    found = operated(site, node_objects(site))

    assert {len(each.resources) for each in found.values()} == {0, 8}
    for each in found.values():
        ports = [port for resource in each.resources for port in resource.ports]
        assert sorted(ports) == sorted({port.pci for port in each.ports})
        assert all(len(port.functions) == 1 for port in each.ports)


@all_clusters
def test_quota_does_not_exceed_what_nodes_advertise(site: Site) -> None:
    """The nodes of a pool advertise at least the virtual functions in its quota."""
    found = operated(site, node_objects(site))
    quota = _quota(site)

    assert len(quota) >= 8
    for (pool, name), number in quota.items():
        nodes = [each for node, each in found.items() if node.rpartition("-")[0] == pool]
        ports = [port for each in nodes for port in each.ports]
        assert 0 < number <= sum(port.number for port in ports if port.resource == name)


def _quota(site: Site) -> Counter[tuple[str, str]]:
    """Return the nominal quota of virtual functions by pool and resource."""
    prefix = f"{site.cluster.release.resource_prefix}/"
    quota: Counter[tuple[str, str]] = Counter()
    queues = (each.body for each in render_site(site) if each.body["kind"] == "ClusterQueue")
    for group in chain.from_iterable(queue["spec"]["resourceGroups"] for queue in queues):
        for flavor in group["flavors"]:
            for resource in flavor["resources"]:
                name = resource["name"].removeprefix(prefix)
                if "_rail_" in name:
                    quota[flavor["name"], name] += int(resource["nominalQuota"])
    return quota


def by_vendor(policies: list[Body]) -> None:
    """Select ports by their model only, which the storage ports share."""
    del policies[3]["spec"]["nicSelector"]["rootDevices"]


def for_every_node(policies: list[Body]) -> None:
    policies[3]["spec"]["nodeSelector"] = {"kubernetes.io/os": "linux"}


def same_port(policies: list[Body]) -> None:
    policies[3]["spec"]["nicSelector"]["rootDevices"] = policies[2]["spec"]["nicSelector"][
        "rootDevices"
    ]


def same_name(policies: list[Body]) -> None:
    policies[3]["spec"]["resourceName"] = policies[2]["spec"]["resourceName"]


def other_model(policies: list[Body]) -> None:
    policies[3]["spec"]["nicSelector"]["deviceID"] = "1017"


def fewer(policies: list[Body]) -> None:
    policies[3]["spec"]["numVfs"] = 4


def other_link(policies: list[Body]) -> None:
    policies[3]["spec"]["linkType"] = {"eth": "ib", "ib": "eth"}[policies[3]["spec"]["linkType"]]


def other_mtu(policies: list[Body]) -> None:
    policies[3]["spec"]["mtu"] = 4000


CHANGES = [
    by_vendor,
    for_every_node,
    same_port,
    same_name,
    other_model,
    fewer,
    other_link,
    other_mtu,
]


@all_clusters
@pytest.mark.parametrize("change", CHANGES)
def test_wrong_policy_is_detected(site: Site, change: Callable[[list[Body]], None]) -> None:
    """A policy with other ports, nodes or settings changes the result on some node."""
    objects = deepcopy(node_objects(site))
    change([each for each in objects if each["kind"] == "SriovNetworkNodePolicy"])

    assert operated(site, objects) != promised(site)


@all_clusters
def test_second_pool_configuration_is_detected(site: Site) -> None:
    """The operator sets no RDMA mode when two pool configurations select one node."""
    objects = deepcopy(node_objects(site))
    pool = next(each for each in objects if each["kind"] == "SriovNetworkPoolConfig")
    objects.append({**pool, "metadata": {**pool["metadata"], "name": "second"}})

    assert "" in {each.rdma_mode for each in operated(site, objects).values() if each.ports}
