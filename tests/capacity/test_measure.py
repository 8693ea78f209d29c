"""The capacity of a cluster agrees with its profiles, its tree, and the rules about it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audit.capacity import amount
from tests.rules.cases import findings, platform_of
from tests.rules.cores import on_cores
from trainyard.capacity.figures import Capacity, Limit, Part, PoolCapacity
from trainyard.capacity.measure import measure
from trainyard.capacity.wording import stops
from trainyard.diagnostics import has_errors
from trainyard.model.platform import Platform
from trainyard.render.site import render_site

CLUSTER, NLP, VISION = "clusters/prod-east.yaml", "teams/nlp.yaml", "teams/vision.yaml"
NODES = st.integers(0, 12)


def quota(**numbers: Any) -> dict[str, Any]:
    return {"quota": {"prod-east": {"dgx-h100": {"gpus": None, "lend": None, **numbers}}}}


@st.composite
def changes(draw: st.DrawFn) -> dict[str, Any]:
    """Quotas of two teams in one cohort or in none, which may be more than the pool promises."""
    cohort = draw(st.sampled_from(["research", None]))
    found: dict[str, Any] = {}
    for team in (NLP, VISION):
        own = draw(st.integers(1, 12))
        limits = {"nodes": own, "borrow": draw(NODES) if cohort else None}
        if cohort:
            limits["lend"] = draw(st.integers(0, own))
        largest = {"nodes": draw(st.integers(1, 24))}
        found[team] = {**quota(**limits), "cohort": cohort, "largestJob": largest}
    nodes = draw(st.integers(1, 24))
    reserve = draw(st.integers(0, nodes))
    found[CLUSTER] = {
        "pools": {"dgx-h100": {"nodes": nodes, "reserve": reserve}},
        "cohorts": {"research": {}},
    }
    return found


def measured(platform: Platform) -> Capacity:
    (site,) = platform.sites
    return measure(site, platform.allocations)


def only(platform: Platform) -> PoolCapacity:
    (pool,) = measured(platform).pools
    return pool


def part_of(platform: Platform, team: str) -> Part:
    return next(part for part in only(platform).parts if part.team == team)


@given(changes())
def test_head_room_is_what_is_promised_less_all_nominal_quota(change: dict[str, Any]) -> None:
    """For each resource and in nodes, and also where teams own too much."""
    pool = only(platform_of(change))

    assert {each.name for each in pool.resources} >= {"cpu", "memory", "nvidia.com/gpu"}
    for each in pool.resources:
        assert each.nominal == sum(part.amounts[each.name] for part in pool.parts)
        assert each.head_room == each.promised - each.nominal
        assert each.promised == each.per_node * (pool.nodes - pool.reserve)
        assert each.head_room == pool.head_room * each.per_node
    assert pool.owned == sum(part.own for part in pool.parts)


@given(changes())
def test_nominal_quota_is_that_of_the_cluster_queues(change: dict[str, Any]) -> None:
    """What is counted here is what Kueue will count."""
    platform = platform_of(change)
    stated: dict[tuple[str, str], Fraction] = {}
    for manifest in render_site(platform.sites[0]):
        if manifest.body["kind"] == "ClusterQueue":
            for flavor in manifest.body["spec"]["resourceGroups"][0]["flavors"]:
                for each in flavor["resources"]:
                    number = amount(each["nominalQuota"]) * (1000 if each["name"] == "cpu" else 1)
                    stated[manifest.body["metadata"]["name"], each["name"]] = number

    assert stated == {
        (f"{part.team}-gpu", name): number
        for part in only(platform).parts
        for name, number in part.amounts.items()
    }


@given(changes())
def test_capacity_agrees_with_the_rules(change: dict[str, Any]) -> None:
    """A pool is oversubscribed, idle or borrowed from in vain exactly if a rule reports it."""
    pool = only(platform_of(change))
    reported = {each.rule for each in findings(change)}

    assert ("capacity/oversubscribed" in reported) == (pool.head_room < 0)
    assert ("capacity/idle-nodes" in reported) == (pool.head_room > 0)
    vain = any(part.borrow > part.borrowable for part in pool.parts if part.cohort)
    assert ("capacity/borrow-exceeds-lenders" in reported) == vain


@given(changes())
def test_largest_job_is_what_grant_quota_and_pool_allow(change: dict[str, Any]) -> None:
    """No job of one more node is admitted, and one of this size is: launcher included."""
    platform = platform_of(change)
    pool = only(platform)
    for tenant in platform.sites[0].tenants:
        part = next(each for each in pool.parts if each.team == tenant.name)
        grants = [grant for space in tenant.spaces for grant in space.grants]
        for job, nodes in (
            (part.own_job, part.own),
            (part.largest_job, part.own + part.borrowable),
        ):
            room = min(int(nodes), pool.promised)
            possible = {
                pods
                for grant in grants
                for pods in range(grant.launch.runtime.smallest_job, grant.nodes + 1)
                if pods <= room
            }
            assert job.pods == max(possible, default=0)
            assert job.nodes == job.pods


@given(changes())
def test_teams_without_a_cohort_lend_and_borrow_nothing(change: dict[str, Any]) -> None:
    for part in only(platform_of(change)).parts:
        if not part.cohort:
            assert not any((part.borrow, part.borrowable, part.lent, part.root))


@pytest.mark.parametrize(
    ("nlp", "vision", "pool", "largest", "limit"),
    [
        ({"nodes": 8, "borrow": 4}, {"nodes": 4, "lend": 4}, {"nodes": 17}, 12, Limit.QUOTA),
        ({"nodes": 8, "borrow": 4}, {"nodes": 4, "lend": 1}, {"nodes": 17}, 9, Limit.LENT),
        ({"nodes": 8, "borrow": 4}, {"nodes": 4, "lend": 4}, {"nodes": 11}, 10, Limit.POOL),
        ({"nodes": 20, "borrow": 4}, {"nodes": 4, "lend": 4}, {"nodes": 40}, 14, "largestJob"),
        ({"nodes": 1, "borrow": 4}, {"nodes": 4, "lend": 0}, {"nodes": 17}, 0, "smallest job"),
    ],
)
def test_the_limit_is_named(
    nlp: dict[str, Any], vision: dict[str, Any], pool: dict[str, Any], largest: int, limit: str
) -> None:
    """Of a job that can't be larger, the value to change is named."""
    change = {
        NLP: {**quota(**nlp), "largestJob": {"nodes": 14}, "cohort": "research"},
        VISION: {**quota(**vision), "cohort": "research"},
        CLUSTER: {"pools": {"dgx-h100": {"reserve": 1, **pool}}, "cohorts": {"research": {}}},
        "runtimes/openmpi-cuda.yaml": {"maxNodes": 32},
    }
    job = part_of(platform_of(change), "nlp").largest_job

    assert (job.pods, job.limit) == (largest, limit)


def test_draining_team_has_no_job() -> None:
    """Its quota stays its own, and its queues admit nothing."""
    part = part_of(platform_of({NLP: {"state": "draining"}}), "nlp")
    assert part.own == 4
    for job in (part.own_job, part.largest_job):
        assert (job.pods, int(job.nodes), job.limit) == (0, 0, Limit.DRAINING)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({CLUSTER: {"state": "held"}}, "cluster prod-east is held"),
        ({CLUSTER: {"pools": {"dgx-h100": {"state": "held"}}}}, "pool dgx-h100 is held"),
    ],
)
def test_held_queues_start_no_job(changes: dict[str, Any], cause: str) -> None:
    """The quota stays, and one line says whose jobs wait and why."""
    pool = only(platform_of(changes))
    assert [part.own for part in pool.parts] == [4, 4]
    assert {part.largest_job.limit for part in pool.parts} == {Limit.HELD}
    assert [*stops(pool)] == [f"no job of nlp, vision starts: {cause}"]
    assert [*stops(only(platform_of({})))] == []


def test_limit_of_the_runtime_is_named() -> None:
    change = {"runtimes/openmpi-cuda.yaml": {"maxNodes": 3}}
    job = part_of(platform_of(change), "nlp").own_job

    assert (job.pods, job.limit) == (3, Limit.MAX_NODES)


def _sizes(pool: PoolCapacity, part: Part) -> list[int]:
    """Return what a team owns and its largest job, in the pool's unit."""
    return [pool.units(nodes) for nodes in (part.own, part.own_job.nodes)]


def test_shares_are_counted_in_gpus() -> None:
    """A job of a share has the pods that its launcher needs, and all GPUs of the share."""
    change = {NLP: quota(gpus=6, nodes=None), VISION: quota(gpus=2, nodes=None)}
    pool = only(platform_of(change))
    sizes = {each.team: _sizes(pool, each) for each in pool.parts}

    assert (pool.unit, pool.per_node) == ("gpus", 8)
    assert sizes == {"nlp": [6, 6], "vision": [2, 2]}
    assert [part.own_job.pods for part in pool.parts] == [2, 2]


def test_shares_of_nodes_without_gpus_are_counted_in_cores() -> None:
    (pool, _) = measured(platform_of(on_cores(48, 12))).pools
    sizes = {each.team: _sizes(pool, each) for each in pool.parts}

    assert (pool.unit, pool.per_node, pool.units(pool.head_room)) == ("cores", 60, 0)
    assert sizes == {"nlp": [48, 48], "vision": [12, 12]}
    assert [part.own_job.pods for part in pool.parts] == [2, 2]


def test_binding_resources_are_those_that_a_pod_uses_up() -> None:
    """A pod takes all GPUs of a node and one of eight virtual functions of a rail."""
    pool = only(platform_of({}))

    assert {"cpu", "memory", "nvidia.com/gpu"} <= set(pool.binding)
    assert not {"pods", "openshift.io/ib_rail_0"} & set(pool.binding)


def test_cohorts_follow_their_parents() -> None:
    cohorts = {"a": {"parent": "z"}, "b": {"parent": "a"}, "z": {}, "research": None}
    change = {
        CLUSTER: {"cohorts": cohorts},
        NLP: {"cohort": "b"},
        VISION: {"cohort": "z"},
    }
    found = measured(platform_of(change)).cohorts

    assert [(each.name, each.lineage, each.teams) for each in found] == [
        ("z", ("z",), ("vision",)),
        ("a", ("a", "z"), ()),
        ("b", ("b", "a", "z"), ("nlp",)),
    ]


def test_cycle_of_cohorts_is_shown_and_ends() -> None:
    """A rule reports it; the figures are still printed."""
    cohorts = {"a": {"parent": "b"}, "b": {"parent": "a"}}
    change = {CLUSTER: {"cohorts": cohorts}, NLP: {"cohort": "a"}, VISION: {"cohort": "b"}}
    names = [each.name for each in measured(platform_of(change)).cohorts]

    assert has_errors(findings(change))
    assert {"a", "b"} <= set(names)
