"""Address blocks against the networks of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages

CLUSTER = "clusters/prod-east.yaml"


@pytest.mark.parametrize("network", ["pods", "services", "machines"])
def test_range_of_a_fabric_does_not_overlap_the_cluster(network: str) -> None:
    """The range of a rail must not hide addresses of the cluster from pods."""
    found = messages(
        "fabric/addresses-overlap", {CLUSTER: {"networks": {network: "10.71.255.0/24"}}}
    )

    assert found == [
        f"range 10.64.0.0/13 of fabric `ib` overlaps 10.71.255.0/24 of the cluster's {network}"
    ]


def test_adjacent_ranges_do_not_overlap() -> None:
    changes = {CLUSTER: {"networks": {"pods": "10.72.0.0/13"}}}

    assert messages("fabric/addresses-overlap", changes) == []


@pytest.mark.parametrize(("source", "count"), [("all", 1), ("jobs", 1), ("workspaces", 0)])
def test_range_of_a_fabric_does_not_overlap_egress_rules_for_jobs(source: str, count: int) -> None:
    """Rules for workspaces may overlap it, because only pods of jobs are on the rails."""
    egress = {"lake": {"to": ["203.0.113.64/28", "10.64.0.0/24"], "ports": [443], "from": source}}
    found = messages("fabric/addresses-overlap", {CLUSTER: {"egress": egress}})

    message = "range 10.64.0.0/13 of fabric `ib` overlaps 10.64.0.0/24 of egress rule `lake`"
    assert found == [message] * count


def _block(prefix: int) -> dict[str, Any]:
    return {
        "allocations.yaml": {"prod-east": {"ib": {"nlp": {"addresses": f"10.64.0.0/{prefix}"}}}}
    }


OTHER = {
    "hardware/dgx-h200.yaml": {
        "extends": "nvidia-dgx-h200",
        "labels": {"x": "y"},
    },
    CLUSTER: {"pools": {"dgx-h200": {"nodes": 2, "fabric": "ib"}}},
}


def test_block_has_addresses_for_the_quota_on_all_pools_of_a_fabric() -> None:
    """Two pools with 4 nodes of 8 virtual functions need 64 addresses, and 62 are available."""
    quota = {
        "teams/nlp.yaml": {
            "quota": {"prod-east": {"dgx-h100": {"nodes": 4}, "dgx-h200": {"nodes": 4}}}
        }
    }

    assert messages("fabric/address-block-too-small", {**OTHER, **quota, **_block(22)}) == []
    message = (
        "block 10.64.0.0/23 gives each of 8 rails 64 addresses; 4 nodes of pool `dgx-h100` in the "
        "quota x 8 virtual functions, 4 nodes of pool `dgx-h200` in the quota x 8 virtual functions"
        " need 66 with network and broadcast"
    )
    assert messages("fabric/address-block-too-small", {**OTHER, **quota, **_block(23)}) == [message]


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
def test_block_has_addresses_for_all_nodes_if_the_plugin_reserves_them(
    nodes: int, functions: int, prefix: int, fits: bool
) -> None:
    """nv-ipam reserves at least two addresses of each team on each node of the fabric."""
    changes = {
        CLUSTER: {"release": "kubernetes-1.36", "pools": {"dgx-h100": {"nodes": nodes}}},
        **_block(prefix),
    }
    changes["hardware/dgx-h100.yaml"] = {"nic": {"virtualFunctions": functions}}
    each = max(2, functions)
    message = (
        f"block 10.64.0.0/24 gives each of 8 rails 32 addresses; {nodes} nodes of pool `dgx-h100`"
        f" x {each} addresses in advance need {nodes * each + 2} with network and broadcast"
    )

    assert messages("fabric/address-block-too-small", changes) == ([] if fits else [message])
