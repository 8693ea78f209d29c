"""Address blocks against the networks of the cluster."""

from __future__ import annotations

import pytest

from tests.rules.cases import messages

CLUSTER = "clusters/prod-east.yaml"


@pytest.mark.parametrize("network", ["pods", "services", "machines"])
def test_range_of_a_fabric_stays_clear_of_the_cluster(network: str) -> None:
    """A rail's range must not hide addresses of the cluster from the pod."""
    found = messages("fabric/addresses-overlap", {CLUSTER: {"networks": {network: "10.71.255.0/24"}}})

    assert found == [f"range 10.64.0.0/13 of fabric `ib` overlaps 10.71.255.0/24 of the cluster's {network}"]


def test_range_beside_the_cluster_is_fine() -> None:
    """Neighbours do not overlap."""
    assert messages("fabric/addresses-overlap", {CLUSTER: {"networks": {"pods": "10.72.0.0/13"}}}) == []
