"""Each object of this repository's tree belongs to a pool, a team or the platform."""

from __future__ import annotations

from tests.change.impact.platforms import own
from trainyard.change.impact.places import pool_of, pools_of, team_of_object

OF_A_POOL = {
    "KubeletConfig",
    "KubeletConfiguration",
    "MachineConfig",
    "MachineConfigPool",
    "ResourceFlavor",
    "SriovNetworkNodePolicy",
    "SriovNetworkPoolConfig",
}


def test_objects_that_set_up_nodes_have_a_pool_of_the_cluster() -> None:
    seen = set()
    for site, manifests in own():
        pools = pools_of(site)
        for each in manifests:
            assert (pool_of(each) in pools) == (each.kind.name in OF_A_POOL), each.path
            seen |= {each.kind.name} & OF_A_POOL
    assert seen == OF_A_POOL


def test_objects_of_a_team_have_a_team_of_the_cluster() -> None:
    for site, manifests in own():
        teams = {tenant.name for tenant in site.tenants}
        for each in manifests:
            assert team_of_object(each) in {"", *teams}, each.path
            assert team_of_object(each) or not each.path.startswith("teams/")


def test_cluster_without_a_profile_has_no_pools() -> None:
    assert pools_of(None) == {}
