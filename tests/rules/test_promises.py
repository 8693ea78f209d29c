"""Quota of two teams on two kinds of nodes, in nodes or in GPUs, never exceeds the hardware."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.audit.capacity import amount
from tests.rules.cases import findings, platform_of
from trainyard.diagnostics import has_errors
from trainyard.generation.objects import check_tree
from trainyard.render.site import render_site

pytestmark = pytest.mark.thorough

CLUSTER, OTHER, RUNTIME = (
    "clusters/prod-east.yaml",
    "hardware/other.yaml",
    "runtimes/openmpi-cuda.yaml",
)
TEAMS, POOLS = ("nlp", "vision"), ("dgx-h100", "other")
THREADS, SYSTEM, GPUS, FUNCTIONS = {"dgx-h100": 224, "other": 192}, 16, 8, 8

AMOUNTS = {"nodes": st.integers(2, 5), "gpus": st.sampled_from([2, 4, 6])}


@st.composite
def platforms(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, list[Fraction]], dict[str, int]]:
    """Return changes of the base, the nodes of each pool that teams own, and its promised nodes."""
    # A pool has either shares or whole nodes.
    units = {pool: draw(st.sampled_from(sorted(AMOUNTS))) for pool in POOLS}
    on = st.sets(st.sampled_from(POOLS), min_size=1).map(sorted)
    quotas = {
        team: {pool: {units[pool]: draw(AMOUNTS[units[pool]])} for pool in draw(on)}
        for team in TEAMS
    }
    nodes = {pool: draw(st.integers(2, 9)) for pool in POOLS}
    changes: dict[str, Any] = {
        CLUSTER: {
            "pools": {
                pool: {"nodes": nodes[pool] + 1, "reserve": 1, "fabric": "ib"} for pool in POOLS
            }
        },
        OTHER: {
            "extends": "nvidia-dgx-h200",
            "cpu": {"threads": THREADS["other"], "cores": 96},
            "memory": "1Ti",
            "labels": {"nvidia.com/gpu.product": "NVIDIA-H200"},
        },
        RUNTIME: {"hardware": list(POOLS)},
    }
    for team in TEAMS:
        # A null removes the quota that the base has on a pool.
        whole = {
            pool: {"nodes": None} | quotas[team][pool] if pool in quotas[team] else None
            for pool in POOLS
        }
        changes[f"teams/{team}.yaml"] = {
            "quota": {"prod-east": whole},
            "largestJob": None,
            "cohort": None,
        }
    owned = {
        pool: [in_nodes(quotas[team][pool]) for team in TEAMS if pool in quotas[team]]
        for pool in POOLS
    }
    return changes, owned, nodes


def in_nodes(quota: dict[str, int]) -> Fraction:
    return Fraction(quota.get("nodes", 0)) + Fraction(quota.get("gpus", 0), GPUS)


def promised(changes: dict[str, Any]) -> Iterator[tuple[str, str, Fraction]]:
    """Yield pool, resource and nominal quota of each line of each queue, all objects valid."""
    (site,) = platform_of(changes).sites
    manifests = render_site(site)
    assert list(check_tree(site, manifests)) == []
    for queue in (each.body["spec"] for each in manifests if each.body["kind"] == "ClusterQueue"):
        for flavor in queue["resourceGroups"][0]["flavors"]:
            yield from (
                (flavor["name"], each["name"], amount(each["nominalQuota"]))
                for each in flavor["resources"]
            )


@settings(max_examples=60, deadline=None)
@given(platforms())
def test_pool_is_oversubscribed_exactly_if_teams_own_more_than_it_promises(
    case: tuple[dict[str, Any], dict[str, list[Fraction]], dict[str, int]],
) -> None:
    """A pool promises its nodes less its reserve."""
    changes, owned, nodes = case
    too_much = {pool for pool in POOLS if sum(owned[pool]) > nodes[pool]}
    found = [each for each in findings(changes) if each.rule == "capacity/oversubscribed"]
    reported = {pool for pool in POOLS if any(f"`{pool}`" in each.message for each in found)}

    assert reported == too_much


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(platforms())
def test_nominal_quota_of_accepted_profiles_exists_in_the_nodes(
    case: tuple[dict[str, Any], dict[str, list[Fraction]], dict[str, int]],
) -> None:
    """All queues together, in every resource; rounding costs a team at most one base unit."""
    changes, owned, nodes = case
    assume(not has_errors(findings(changes)))
    sums: dict[tuple[str, str], Fraction] = {}
    for pool, resource, quota in promised(changes):
        sums[pool, resource] = sums.get((pool, resource), Fraction(0)) + quota

    for (pool, resource), total in sums.items():
        rail = FUNCTIONS if "_rail_" in resource else None
        known = {"cpu": THREADS[pool] - SYSTEM, "nvidia.com/gpu": GPUS}.get(resource, rail)
        if known is not None:
            assert total <= nodes[pool] * known
            assert sum(owned[pool]) * known - total < len(TEAMS)
