"""Address blocks against the networks of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages

CLUSTER = "clusters/prod-east.yaml"


@pytest.mark.parametrize("network", ["pods", "services", "machines"])
def test_range_of_a_fabric_stays_clear_of_the_cluster(network: str) -> None:
    """A rail's range must not hide addresses of the cluster from the pod."""
    found = messages(
        "fabric/addresses-overlap", {CLUSTER: {"networks": {network: "10.71.255.0/24"}}}
    )

    assert found == [
        f"range 10.64.0.0/13 of fabric `ib` overlaps 10.71.255.0/24 of the cluster's {network}"
    ]


def test_range_beside_the_cluster_is_fine() -> None:
    """Neighbours do not overlap."""
    assert (
        messages("fabric/addresses-overlap", {CLUSTER: {"networks": {"pods": "10.72.0.0/13"}}})
        == []
    )


@pytest.mark.parametrize(("source", "count"), [("all", 1), ("jobs", 1), ("workspaces", 0)])
def test_range_of_a_fabric_hides_no_way_out_of_jobs(source: str, count: int) -> None:
    """Only pods of jobs are on the rails."""
    egress = {"lake": {"to": ["203.0.113.64/28", "10.64.0.0/24"], "ports": [443], "from": source}}
    found = messages("fabric/addresses-overlap", {CLUSTER: {"egress": egress}})

    assert (
        found
        == ["range 10.64.0.0/13 of fabric `ib` overlaps 10.64.0.0/24 of egress `lake`"] * count
    )


def _block(prefix: int) -> dict[str, Any]:
    return {
        "allocations.yaml": {"prod-east": {"ib": {"nlp": {"addresses": f"10.64.0.0/{prefix}"}}}}
    }


OTHER = {
    "hardware/dgx-h200.yaml": {
        "extends": "nvidia-dgx-h100",
        "gpu": {"product": "X"},
        "labels": {"x": "y"},
    },
    CLUSTER: {"pools": {"dgx-h200": {"nodes": 2, "fabric": "ib"}}},
}


def test_pods_take_addresses_for_what_a_team_reaches_on_all_pools_of_a_fabric() -> None:
    """One block serves every pool: two times 4 nodes of 8 functions are more than 62 addresses."""
    quota = {
        "teams/nlp.yaml": {
            "quota": {"prod-east": {"dgx-h100": {"nodes": 4}, "dgx-h200": {"nodes": 4}}}
        }
    }

    assert messages("fabric/address-block-too-small", {**OTHER, **quota, **_block(22)}) == []
    told = (
        "block 10.64.0.0/23 gives each of 8 rails 64 addresses; 4 nodes of pool `dgx-h100` in reach"
        " x 8 virtual functions, 4 nodes of pool `dgx-h200` in reach x 8 virtual functions"
        " need 66 with network and broadcast"
    )
    assert messages("fabric/address-block-too-small", {**OTHER, **quota, **_block(23)}) == [told]


@pytest.mark.parametrize(
    ("nodes", "functions", "prefix", "fits"),
    [
        (3, 20, 23, True),
        (3, 20, 24, False),
        (15, 1, 24, True),
        (16, 1, 24, False),
        (31, 1, 24, False),
    ],
)
def test_nodes_take_addresses_in_advance_where_the_plugin_gives_them_blocks(
    nodes: int, functions: int, prefix: int, fits: bool
) -> None:
    """With nv-ipam each node of the fabric has a block of each team's, also without quota: two
    addresses at least."""
    changes = {
        CLUSTER: {"release": "kubernetes-1.36", "pools": {"dgx-h100": {"nodes": nodes}}},
        **_block(prefix),
    }
    changes["hardware/dgx-h100.yaml"] = {"nic": {"virtualFunctions": functions}}
    each = max(2, functions)
    told = (
        f"block 10.64.0.0/24 gives each of 8 rails 32 addresses; {nodes} nodes of pool `dgx-h100`"
        f" x {each} addresses in advance need {nodes * each + 2} with network and broadcast"
    )

    assert messages("fabric/address-block-too-small", changes) == ([] if fits else [told])
