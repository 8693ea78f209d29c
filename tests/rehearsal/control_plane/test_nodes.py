from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from trainyard.model.fabric import HOSTNAME
from trainyard.model.platform import Site
from trainyard_rehearsal.control_plane.nodes import nodes


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_nodes_are_those_of_the_pools(sites: dict[str, Site], cluster: str) -> None:
    """As many as the profile says, each worth what quota was computed from, found by its pool's
    labels and taint."""
    site = sites[cluster]
    made = list(nodes(site))
    names = [node["metadata"]["name"] for node in made]

    assert len(set(names)) == len(names)
    for pool in site.cluster.pools:
        own = [node for node in made if node["metadata"]["name"].rpartition("-")[0] == pool.name]
        assert len(own) == pool.nodes
        for node in own:
            labels = node["metadata"]["labels"]
            assert node["status"] == {
                "allocatable": pool.allocatable_quantities,
                "capacity": pool.allocatable_quantities,
            }
            assert pool.hardware.labels.items() <= labels.items()
            assert labels[HOSTNAME] == node["metadata"]["name"]
            assert [taint["key"] for taint in node["spec"]["taints"]] == [
                each for each in [pool.hardware.taint] if each
            ]
            assert all(level in labels for level in (pool.fabric.levels if pool.fabric else ()))
    assert len(made) == sum(pool.nodes for pool in site.cluster.pools)


def test_leaves_are_full(sites: dict[str, Site]) -> None:
    """17 nodes with four below each switch: four full leaves, one with a single node, one spine
    above them all."""
    labels = [node["metadata"]["labels"] for node in nodes(sites["prod-east"])]
    assert sorted(Counter(each["ml.example.com/leaf"] for each in labels).values()) == [
        1,
        4,
        4,
        4,
        4,
    ]
    assert {each["ml.example.com/spine"] for each in labels} == {"dgx-h100-0"}


def test_switch_of_unknown_size_has_all(sites: dict[str, Site]) -> None:
    """A fabric that does not say how many nodes stand below a switch has one switch a pool."""
    site = sites["prod-east"]
    (pool,) = site.cluster.pools
    assert pool.fabric is not None
    pools = (replace(pool, fabric=replace(pool.fabric, leaf_nodes=0)),)
    changed = replace(site, cluster=replace(site.cluster, pools=pools))
    assert {node["metadata"]["labels"]["ml.example.com/leaf"] for node in nodes(changed)} == {
        "dgx-h100-0"
    }
