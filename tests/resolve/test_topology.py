"""Topologies of pools: their own, their fabric's, or none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import platform_of
from trainyard.model.pool import Pool

CLUSTER = "clusters/prod-east.yaml"
_RACKS = {"levels": ["ml.example.com/leaf"], "leafNodes": 8}
_CPU = {
    "hardware/cpu-node.yaml": {
        "extends": "cpu-node",
        "cpu": {"sockets": 2, "cores": 64, "threads": 128},
        "memory": "1Ti",
        "ephemeralStorage": "1788Gi",
        "system": {"cpu": 8},
    }
}


def _pool(name: str, cluster: dict[str, Any]) -> Pool:
    (site,) = platform_of({CLUSTER: cluster, **_CPU}).sites
    return next(pool for pool in site.cluster.pools if pool.name == name)


@pytest.mark.parametrize(
    ("topology", "levels", "leaf"),
    [(None, None, None), ("racks", ("ml.example.com/leaf",), 8), ("flat", (), 0)],
)
def test_pool_without_a_fabric_has_the_topology_that_it_names(
    topology: str | None, levels: tuple[str, ...] | None, leaf: int | None
) -> None:
    """Without one it has none; one without levels has the host alone."""
    topologies: dict[str, Any] = {"racks": _RACKS, "flat": {}}
    pool = _pool(
        "cpu-node",
        {"topologies": topologies, "pools": {"cpu-node": {"nodes": 2, "topology": topology}}},
    )

    found = pool.topology
    assert (found and found.name) == topology
    assert (found and found.levels) == levels
    assert (found and found.leaf_nodes) == leaf


def test_fabric_has_a_topology_of_its_name() -> None:
    """Its levels are in the fabric, or below its name in ``topologies``."""
    inside = _pool("dgx-h100", {}).topology
    beside = _pool(
        "dgx-h100", {"fabrics": {"ib": {"levels": None}}, "topologies": {"ib": _RACKS}}
    ).topology

    assert inside
    assert beside
    assert (inside.name, inside.levels, inside.leaf_nodes) == ("ib", ("ml.example.com/leaf",), 0)
    assert (beside.name, beside.levels, beside.leaf_nodes) == ("ib", ("ml.example.com/leaf",), 8)


def test_a_pools_own_topology_comes_before_that_of_its_fabric() -> None:
    """The pool is on the fabric all the same."""
    cluster = {"topologies": {"racks": _RACKS}, "pools": {"dgx-h100": {"topology": "racks"}}}
    pool = _pool("dgx-h100", cluster)

    assert pool.fabric
    assert pool.fabric.name == "ib"
    assert pool.topology
    assert pool.topology.name == "racks"
