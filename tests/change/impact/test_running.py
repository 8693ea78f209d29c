"""Running jobs of a dump that a change hits, and those that run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.change.impact.platforms import CLUSTER, NLP, VISION, quota, sides, site
from tests.change.impact.test_disruption import HARDWARE, IMAGE, mtu, of
from tests.dumps import running, train_job
from trainyard.change.impact.compare import compare
from trainyard.change.impact.dumped import JobsChange
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.reaction import Effect
from trainyard.change.impact.running import JobHit
from trainyard.change.objects import Sides
from trainyard.diagnostics import TreeError
from trainyard.model.identity import Identity
from trainyard.workflows.dump import dump_of

OPENMPI = "openmpi-cuda-v1-dgx-h100"


def impact(both: Sides, *bodies: Mapping[str, Any]) -> ClusterImpact | None:
    dump = dump_of("jobs.json", [((0, "items", i), dict(each)) for i, each in enumerate(bodies)])
    clusters = compare([both], None, {both.name: dump}).clusters
    return clusters[0] if clusters else None


def jobs(both: Sides, *bodies: Mapping[str, Any]) -> JobsChange:
    found = impact(both, *bodies)
    assert found is not None
    assert found.jobs is not None
    return found.jobs


def outcomes(both: Sides, *bodies: Mapping[str, Any]) -> dict[str, list[str]]:
    return {hit.job: [each.outcome for each in hit.causes] for hit in jobs(both, *bodies).hits}


def test_only_jobs_beyond_the_new_quota_may_be_evicted_the_newest_first() -> None:
    both = sides(of(quota(4), quota(4)), of(quota(2), quota(6)))
    found = jobs(
        both,
        running("old", 1, since="2026-11-01T00:00:00Z"),
        running("middle", 1, since="2026-11-02T00:00:00Z"),
        running("new", 1, since="2026-11-03T00:00:00Z"),
        running("other", 4, "team-vision"),
    )
    assert (found.running, found.waiting, found.foreign) == (4, 0, 0)
    (hit,) = found.hits
    assert hit == JobHit(
        team="nlp",
        namespace="team-nlp",
        kind="TrainJob",
        job="new",
        pools=("dgx-h100",),
        nodes=1,
        gpus=8,
        since="2026-11-03T00:00:00Z",
        causes=hit.causes,
    )
    (cause,) = hit.causes
    assert (cause.effect, cause.outcome) == ("reclaims", "may be evicted")
    assert cause.cause == "quota of team `nlp` on `dgx-h100` 4 -> 2 nodes"


def test_lowest_priority_goes_before_the_newest() -> None:
    both = sides(of(quota(4), quota(4)), of(quota(2), quota(6)))
    found = outcomes(
        both,
        running("batch", 2, priority=("batch", 500), since="2026-11-01T00:00:00Z"),
        running("production", 2, priority=("production", 1000), since="2026-11-03T00:00:00Z"),
    )
    assert found == {"batch": ["may be evicted"]}


def test_job_on_a_pool_within_its_quota_runs_on() -> None:
    """Although it has the lowest priority, and the team's quota on its pool is lowered too."""

    def two_pools(own: int, others: int) -> dict[str, Any]:
        pools = {"second": {"nodes": 9, "reserve": 1, "fabric": "ib"}}

        def on_both(nodes: int) -> dict[str, Any]:
            share = {"nodes": nodes}
            return {"quota": {"prod-east": {"dgx-h100": share, "second": share}}}

        return {
            CLUSTER: {"pools": pools},
            "hardware/second.yaml": {"extends": "nvidia-dgx-h100"},
            NLP: on_both(own),
            VISION: on_both(others),
        }

    found = outcomes(
        sides(two_pools(4, 4), two_pools(2, 6)),
        running("within", 1, priority=("batch", 500)),
        running("beyond", 4, pool="second", priority=("production", 1000)),
    )
    assert found == {"beyond": ["may be evicted"]}


def test_whole_job_goes_for_one_node() -> None:
    both = sides(of(quota(4), quota(4)), of(quota(3), quota(5)))
    assert outcomes(both, running("large", 4)) == {"large": ["may be evicted"]}


def test_jobs_within_the_new_quota_run_on() -> None:
    both = sides(of(quota(4), quota(4)), of(quota(2), quota(6)))
    assert outcomes(both, running("small", 2), running("other", 4, "team-vision")) == {}


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_both_versions_of_the_api_show_the_same(version: str) -> None:
    classes = {"production": 1000, "batch": 500, "urgent": 2000}
    found = outcomes(
        sides(
            {CLUSTER: {"priorities": classes}},
            {CLUSTER: {"priorities": {**classes, "batch": 1500}}},
        ),
        running("low", 1, priority=("production", 1000), version=version),
        running("changed", 1, priority=("batch", 500), version=version),
        running("high", 1, priority=("urgent", 2000), version=version),
    )
    assert found == {"low": ["may be evicted"], "changed": ["may be evicted"]}


def test_drained_team_loses_every_job_and_no_other_does() -> None:
    both = sides({}, {NLP: {"state": "draining"}})
    found = outcomes(both, running("a", 1), running("b", 3), running("c", 4, "team-vision"))
    assert found == {"a": ["is evicted"], "b": ["is evicted"]}


def test_emptied_nodes_hit_the_jobs_of_their_pool_whatever_their_quota() -> None:
    both = sides(mtu(2044), mtu(4092))
    both = replace(both, before=_with_flavor(both, "old-pool"))
    found = outcomes(both, running("a", 1), running("b", 2, pool="old-pool"))
    assert found == {"a": ["its nodes are drained"]}


def _with_flavor(both: Sides, name: str) -> Mapping[Identity, Any]:
    flavor = both.before[Identity("ResourceFlavor", "", "dgx-h100")]
    return {**both.before, Identity("ResourceFlavor", "", name): flavor}


def test_causes_of_a_job_are_all_named_the_worst_first() -> None:
    before = {**of(quota(4), quota(4)), **mtu(2044)}
    after = {**of(quota(2), quota(6)), **mtu(4092)}
    found = outcomes(sides(before, after), running("a", 4), running("b", 1, "team-vision"))
    assert found == {
        "a": ["its nodes are drained", "may be evicted"],
        "b": ["its nodes are drained"],
    }


def test_job_of_another_runtime_runs_on_and_one_of_an_unknown_may_be_hit() -> None:
    """On Kueue 0.16 the job is only counted no more."""
    both = sides({}, {"runtimes/openmpi-cuda.yaml": {"image": IMAGE}})
    bodies = [running("known", 1), running("other", 1), running("unknown", 1)]
    kinds = [running("plain", 1, kind="Job")]
    found = outcomes(
        both, *bodies, *kinds, train_job("known", OPENMPI), train_job("other", "own-runtime")
    )
    assert found == {
        "known": ["runs on outside of the quota"],
        "unknown": ["runs on outside of the quota if this is its runtime"],
    }


def test_borrower_is_hit_when_its_lender_keeps_more() -> None:
    before = of(quota(4, lend=4), quota(2, borrow=4))
    after = of(quota(2, lend=2), quota(2, borrow=4))
    both = sides(before, after)
    assert outcomes(both, running("guest", 5, "team-vision")) == {"guest": ["may be evicted"]}
    assert outcomes(both, running("own", 2, "team-vision")) == {}


def test_jobs_in_namespaces_of_no_team_are_counted() -> None:
    both = sides(mtu(2044), mtu(4092))
    found = jobs(both, running("a", 1), running("b", 1, "team-of-somebody", queue="x"))
    assert (found.running, found.foreign) == (1, 1)
    assert [hit.job for hit in found.hits] == ["a"]


def test_dump_of_another_cluster_is_refused() -> None:
    both = sides(mtu(2044), mtu(4092))
    with pytest.raises(TreeError, match="lists 1 job in team-x, and no team has such a namespace"):
        jobs(both, running("a", 1, "team-x"))
    with pytest.raises(TreeError, match="lists jobs on gb200, and prod-east has no such pool"):
        jobs(both, running("a", 1, pool="gb200"))


def test_idle_cluster_has_no_job_that_is_hit() -> None:
    found = jobs(sides(mtu(2044), mtu(4092)))
    assert found == JobsChange(running=0, waiting=0, foreign=0, hits=(), stuck=())


def test_job_that_a_drained_team_still_has_loses_its_nodes() -> None:
    drained = {NLP: {"state": "draining"}}
    both = sides({**drained, **mtu(2044)}, {**drained, **mtu(4092)})
    assert outcomes(both, running("last", 1)) == {"last": ["its nodes are drained"]}


EDITS = st.sampled_from(
    [
        {},
        mtu(4092),
        of(quota(2), quota(6)),
        of(quota(1, borrow=3), quota(3, lend=2)),
        of(quota(4, borrow=2), quota(4, lend=0)),
        {NLP: {"state": "draining"}},
        {HARDWARE: {"system": {"cpu": 40}}},
        {HARDWARE: {"kubelet": {"cpu": 10}}},
        {CLUSTER: {"priorities": {"batch": 1500}}},
        {"runtimes/openmpi-cuda.yaml": {"image": IMAGE}},
        {VISION: {"cohort": None}},
    ]
)
JOBS = st.lists(
    st.builds(
        running,
        st.sampled_from(["a", "b", "c"]),
        st.integers(1, 4),
        st.sampled_from(["team-nlp", "team-vision"]),
        priority=st.sampled_from([("batch", 500), ("production", 1000), ("", 0)]),
        since=st.sampled_from(["2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"]),
        kind=st.sampled_from(["TrainJob", "Job", "MPIJob"]),
    ),
    max_size=6,
)


@given(EDITS, EDITS, JOBS)
def test_job_that_is_hit_is_of_a_team_and_a_cause_that_the_impact_names(
    before: dict[str, Any], after: dict[str, Any], bodies: list[dict[str, Any]]
) -> None:
    """By its profiles a drained team has no job on nodes that are emptied: the dump knows more."""
    found = impact(sides(before, after), *bodies)
    if found is None:
        assert before == after or site(before) == site(after)
        return
    assert found.jobs is not None
    named = {each.cause: each for each in found.disruptions}
    for hit in found.jobs.hits:
        assert hit.causes
        for cause in hit.causes:
            assert hit.team in named[cause.cause].teams or (
                named[cause.cause].pool in hit.pools and named[cause.cause].effect >= Effect.UNLOCKS
            )
            assert cause.effect == named[cause.cause].effect.name.lower()


@given(EDITS, JOBS)
def test_empty_change_names_nobody(edit: dict[str, Any], bodies: list[dict[str, Any]]) -> None:
    assert impact(sides(edit, edit), *bodies) is None
