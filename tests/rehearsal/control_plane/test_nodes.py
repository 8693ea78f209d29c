from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.topology import HOSTNAME
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.nodes import nodes


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_nodes_are_those_of_the_pools(sites: dict[str, Site], cluster: str) -> None:
    """Each has the allocatable with which quota is computed, and its pool's labels and taint."""
    site = sites[cluster]
    made = {node["metadata"]["name"]: node for node in nodes(site)}
    counts = Counter(name.rpartition("-")[0] for name in made)

    assert counts == {pool.name: pool.nodes for pool in site.cluster.pools}
    pools = {pool.name: pool for pool in site.cluster.pools}
    for name, node in made.items():
        _assert_of_pool(node, pools[name.rpartition("-")[0]])


def _assert_of_pool(node: Body, pool: Pool) -> None:
    labels, amounts = node["metadata"]["labels"], pool.allocatable_quantities
    assert node["status"] == {"allocatable": amounts, "capacity": amounts}
    assert pool.hardware.labels.items() <= labels.items()
    assert labels[HOSTNAME] == node["metadata"]["name"]
    taints = [taint["key"] for taint in node["spec"]["taints"]]
    assert taints == list(filter(None, [pool.hardware.taint]))
    assert labels.keys() >= set(pool.topology.levels if pool.topology else ())


def test_leaves_are_full(sites: dict[str, Site]) -> None:
    """17 nodes with four for each leaf: four full leaves, one with a single node, one spine."""
    labels = [node["metadata"]["labels"] for node in nodes(sites["prod-east"])]
    leaves = Counter(each["ml.example.com/leaf"] for each in labels)
    assert sorted(leaves.values()) == [1, 4, 4, 4, 4]
    assert {each["ml.example.com/spine"] for each in labels} == {"dgx-h100-0"}


def test_switch_of_unknown_size_has_all(sites: dict[str, Site]) -> None:
    """A topology without a number of nodes for each leaf has one leaf for each pool."""
    site = sites["prod-east"]
    (pool,) = site.cluster.pools
    assert pool.topology is not None
    pools = (replace(pool, topology=replace(pool.topology, leaf_nodes=0)),)
    changed = replace(site, cluster=replace(site.cluster, pools=pools))
    assert {node["metadata"]["labels"]["ml.example.com/leaf"] for node in nodes(changed)} == {
        "dgx-h100-0"
    }
