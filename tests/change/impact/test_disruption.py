"""What a change disturbs: whose jobs, which nodes, and at most how many GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.change.impact.platforms import CLUSTER, LEDGER, NLP, VISION, quota, sides
from tests.rules.cases import changed, merged
from trainyard.change.impact.disruption import Disruption, disruptions
from trainyard.change.impact.objects import object_changes
from trainyard.change.impact.reaction import Effect
from trainyard.change.objects import Sides
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site

HARDWARE = "hardware/dgx-h100.yaml"
IMAGE = f"registry.example.com/ml/openmpi-cuda@sha256:{64 * '1'}"
NODES = st.integers(0, 4)


def disturbed(
    before: Mapping[str, Any], after: Mapping[str, Any], **renamed: str
) -> tuple[Disruption, ...]:
    return found(sides(before, after), **renamed)


def found(both: Sides, **renamed: str) -> tuple[Disruption, ...]:
    return disruptions(both, object_changes(replace(both, renamed=renamed)))


def of(nlp: Mapping[str, Any], vision: Mapping[str, Any]) -> dict[str, Any]:
    return {NLP: {**nlp, "largestJob": None}, VISION: {**vision, "largestJob": None}}


def mtu(number: int) -> dict[str, Any]:
    return {CLUSTER: {"fabrics": {"ib": {"mtu": number}}}}


def test_nothing_is_disturbed_by_no_change() -> None:
    assert disturbed({}, {}) == ()


def test_mtu_of_eight_rails_drains_the_nodes_of_the_pool_once() -> None:
    (drain,) = disturbed(mtu(2044), mtu(4092))
    assert drain == Disruption(
        effect=Effect.DRAINS,
        cause="MTU of the rails of pool `dgx-h100` 2044 -> 4092",
        consequence="Nothing happens until somebody syncs `nodes/`. The operator empties each "
        "node of pods with virtual functions. A job with a pod there fails, and starts again only "
        "if its runtime has `restarts`.",
        source="k8snetworkplumbingwg/sriov-network-operator:api/v1/helper.go@v1.6.0",
        pool="dgx-h100",
        nodes=9,
        pace="one after the other",
        teams=("nlp", "vision"),
        gpus=64,
    )


def test_mtu_that_is_left_to_the_driver_stays() -> None:
    assert disturbed(mtu(2044), {}) == ()


def test_drain_begins_at_once_where_nodes_are_synced_automatically() -> None:
    automatic = {"nodes": {"sync": "automatic"}}
    before = {CLUSTER: {**mtu(2044)[CLUSTER], **automatic}}
    after = {CLUSTER: {**mtu(4092)[CLUSTER], **automatic}}
    (drain,) = disturbed(before, after)
    assert drain.consequence.startswith("The operator empties each node")


@pytest.mark.parametrize(
    ("number", "pace"),
    [
        (1, "one after the other"),
        (3, "3 at a time"),
        ("25%", "25% at a time"),
        (None, "all at once"),
    ],
)
def test_pace_is_the_pools(number: object, pace: str) -> None:
    both = sides(mtu(2044), mtu(4092))
    after = {
        key: _with_spec(each, maxUnavailable=number)
        if key.kind == "SriovNetworkPoolConfig"
        else each
        for key, each in both.after.items()
    }
    changes = object_changes(both)
    assert [each.pace for each in disruptions(replace(both, after=after), changes)] == [pace]


def _with_spec(manifest: Manifest, **fields: object) -> Manifest:
    return replace(manifest, body={**manifest.body, "spec": {**manifest.body["spec"], **fields}})


def test_virtual_functions_reboot_the_nodes() -> None:
    more = {HARDWARE: {"nic": {"virtualFunctions": 4}}}
    worst = disturbed({}, more)[0]
    assert (worst.effect, worst.nodes, worst.gpus) == (Effect.REBOOTS, 9, 64)
    assert worst.cause == "virtual functions of the rails of pool `dgx-h100` 8 -> 4"


def test_kubelet_reboots_the_nodes() -> None:
    share = {HARDWARE: {"kubelet": {"cpu": 10}}}
    (reboot,) = disturbed({}, share)
    assert (reboot.effect, reboot.cause) == (Effect.REBOOTS, "kubelet of pool `dgx-h100` changes")


def test_new_pool_has_one_cause_and_nothing_runs_on_it() -> None:
    pools = {"new": {"hardware": "dgx-h100", "nodes": 4, "reserve": 1, "fabric": "ib"}}
    (new,) = disturbed({}, {CLUSTER: {"pools": pools}})
    assert (new.effect, new.cause) == (Effect.REBOOTS, "pool `new` is new")
    assert (new.pool, new.nodes, new.teams, new.gpus) == ("new", 4, (), 0)


def test_pool_that_is_removed_is_left_as_it_is() -> None:
    """Argo CD deletes no object that sets up nodes: somebody drains them and does it by hand."""
    pools = {"new": {"hardware": "dgx-h100", "nodes": 4, "reserve": 1, "fabric": "ib"}}
    assert disturbed({CLUSTER: {"pools": pools}}, {}) == ()


def test_policy_that_is_deleted_drains() -> None:
    both = sides({}, {})
    bare = {key: _unannotated(each) for key, each in both.before.items()}
    after = {key: each for key, each in both.after.items() if each.name != "dgx-h100-rail-0"}
    changes = object_changes(replace(both, before=bare, after=after))
    removed = [each for each in changes if each.change == "deleted"]
    (drain,) = disruptions(replace(both, before=bare, after=after), removed)
    assert (drain.effect, drain.cause) == (Effect.DRAINS, "pool `dgx-h100` loses rails")


def _unannotated(manifest: Manifest) -> Manifest:
    metadata = {**manifest.body.get("metadata", {}), "annotations": {}}
    return replace(manifest, body={**manifest.body, "metadata": metadata})


def test_team_that_is_drained_loses_its_jobs_and_what_they_borrow() -> None:
    """They borrow no more than another team lends."""
    borrows = {NLP: quota(2, borrow=3), VISION: quota(4, lend=2)}
    (drain,) = disturbed(borrows, {**borrows, NLP: {**borrows[NLP], "state": "draining"}})
    assert (drain.effect, drain.teams) == (Effect.EVICTS, ("nlp",))
    assert (drain.pool, drain.nodes, drain.pace, drain.gpus) == ("dgx-h100", 4, "", 32)
    assert drain.cause == "queues of team `nlp` are drained"


@pytest.mark.parametrize("state", ["active", "retired"])
def test_team_that_is_drained_has_nothing_left_to_lose(state: str) -> None:
    assert disturbed({NLP: {"state": "draining"}}, {NLP: {"state": state}}) == ()


def test_jobs_of_a_drained_team_are_on_no_node() -> None:
    drained = {NLP: {"state": "draining"}}
    (drain,) = disturbed({**drained, **mtu(2044)}, {**drained, **mtu(4092)})
    assert (drain.nodes, drain.teams, drain.gpus) == (9, ("vision",), 32)


@given(NODES, NODES, NODES, NODES)
def test_quota_evicts_exactly_who_has_less(
    nlp: int, vision: int, to_nlp: int, to_vision: int
) -> None:
    """Without lending, nobody borrows what is gone; only an owner can take it."""
    before = of(quota(nlp, borrow=1, lend=0), quota(vision, borrow=1, lend=0))
    after = of(quota(to_nlp, borrow=1, lend=0), quota(to_vision, borrow=1, lend=0))
    evicted = {
        name
        for name, old, new, other in (
            ("nlp", nlp, to_nlp, to_vision),
            ("vision", vision, to_vision, to_nlp),
        )
        if new < old and other
    }
    seen = disturbed(before, after)
    assert {each.teams for each in seen} == {(name,) for name in evicted}
    assert {each.effect for each in seen} <= {Effect.RECLAIMS}
    for each in seen:
        (name,) = each.teams
        old, new = (nlp, to_nlp) if name == "nlp" else (vision, to_vision)
        noun = "node" if new == 1 else "nodes"
        assert each.cause == f"quota of team `{name}` on `dgx-h100` {old} -> {new} {noun}"
        assert (each.nodes, each.gpus) == (old, 8 * old)


def test_lowered_quota_of_a_team_without_a_cohort_evicts_nobody() -> None:
    alone = {"cohort": None}
    before = of({**quota(4), **alone}, {**quota(4), **alone})
    after = of({**quota(1), **alone}, {**quota(4), **alone})
    assert disturbed(before, after) == ()


def test_lowered_quota_of_a_team_alone_in_its_cohort_evicts_nobody() -> None:
    """Nobody can take the nodes back: the other team is in another cohort."""
    cohorts: dict[str, Any] = {CLUSTER: {"cohorts": {"research": {}, "other": {}}}}
    elsewhere = {**quota(4), "cohort": "other"}
    before = {**cohorts, **of(quota(4), elsewhere)}
    assert disturbed(before, {**cohorts, **of(quota(3), elsewhere)}) == ()
    assert len(disturbed(of(quota(4), quota(1)), of(quota(3), quota(1)))) == 1


def test_lowered_quota_is_taken_from_who_only_borrows() -> None:
    """A job on one borrowed node fitted beside three of the owner, who has no more of them now."""
    pure = quota(0, borrow=2)
    (lost,) = disturbed(of(quota(4), pure), of(quota(3), pure))
    assert (lost.cause, lost.teams) == (
        "quota of team `nlp` on `dgx-h100` 4 -> 3 nodes",
        ("vision",),
    )


def test_team_that_leaves_a_cohort_takes_only_nodes_of_its_own_pools() -> None:
    """What nlp borrows of audio on the other pool stays."""
    small = {"hardware": "small", "nodes": 4, "reserve": 1, "fabric": "ib"}
    line = {"partition": "0x0103", "addresses": "10.64.32.0/20"}
    audio = {
        "contact": "audio@example.com",
        "groups": {"user": ["audio"]},
        "runtimes": ["openmpi-cuda"],
        "cohort": "research",
        "quota": {"prod-east": {"small": {"nodes": 2}}},
    }
    borrows = {"dgx-h100": {"nodes": 2}, "small": {"nodes": 1, "borrow": 1}}
    base: dict[str, Any] = {
        "hardware/small.yaml": {"extends": "nvidia-dgx-h100"},
        "allocations.yaml": {"prod-east": {"ib": {"audio": line}}},
        CLUSTER: {"pools": {"small": small}, "cohorts": {"research": {}, "other": {}}},
        "runtimes/openmpi-cuda.yaml": {"hardware": ["dgx-h100", "small"]},
        "teams/audio.yaml": audio,
        **of({"quota": {"prod-east": borrows}}, quota(2)),
    }
    assert disturbed(base, {**base, VISION: {**base[VISION], "cohort": "other"}}) == ()
    after = {**base, "teams/audio.yaml": {**audio, "cohort": "other"}}
    assert disturbed(base, after) == (), "nobody else owns nodes there"
    owns = {"dgx-h100": {"nodes": 2}, "small": {"nodes": 1}}
    third = {VISION: {"quota": {"prod-east": owns}}}
    (gone,) = disturbed({**base, **third}, {**after, **third})
    assert (gone.teams, gone.pool) == (("nlp",), "small")


def test_priority_evicts_only_teams_that_may_use_it() -> None:
    """Kueue evicts within a queue, so a team without it has no job that changes."""
    classes = {"production": 1000, "interactive": 800, "batch": 500}
    base = {
        CLUSTER: {"priorities": classes},
        NLP: {"priorities": ["production", "batch"]},
        VISION: {"priorities": ["production", "interactive"]},
    }
    lowered = {**base, CLUSTER: {"priorities": {**classes, "interactive": 700}}}
    (evicted,) = disturbed(base, lowered)
    assert evicted.teams == ("vision",)


@pytest.mark.parametrize(("parent", "causes"), [("", 0), ("company", 1)])
def test_weight_evicts_only_below_a_parent(parent: str, causes: int) -> None:
    def weighing(weight: int) -> dict[str, Any]:
        research = {"weight": weight} | ({"parent": parent} if parent else {})
        cohorts = {"company": {}, "research": research}
        return {
            **of(quota(2, borrow=2), quota(4)),
            CLUSTER: {"sharing": "fair", "cohorts": cohorts},
        }

    seen = disturbed(weighing(1), weighing(3))
    assert [each.cause for each in seen] == ["weight of cohort `research` 1 -> 3"] * causes


def test_weight_of_a_team_evicts_who_borrows_in_its_cohort() -> None:
    def weighing(weight: int) -> dict[str, Any]:
        changes = of(quota(2, borrow=2), quota(4))
        changes[NLP] = {**changes[NLP], "weight": weight}
        return {**changes, CLUSTER: {"sharing": "fair"}}

    (seen,) = disturbed(weighing(1), weighing(3))
    assert seen.cause == "weight of team `nlp` 1 -> 3"


def test_nodes_that_are_no_longer_lent_are_taken_from_who_borrows() -> None:
    before = {**of(quota(4, lend=4), quota(2, borrow=3)), **_third(1)}
    after = {**of(quota(4, lend=1), quota(2, borrow=3)), **_third(1)}
    (lent,) = disturbed(before, after)
    assert lent.cause == "team `nlp` lends 4 -> 1 node of `dgx-h100`"
    assert (lent.teams, lent.nodes, lent.gpus) == (("vision",), 5, 40)


def test_lender_alone_takes_nothing_by_lending_less() -> None:
    """Whatever its jobs left free for the borrower's, they leave free now."""
    before = of(quota(4, lend=4), quota(2, borrow=3))
    assert disturbed(before, of(quota(4, lend=1), quota(2, borrow=3))) == ()


def test_lowered_borrowing_limit_evicts_nobody() -> None:
    assert disturbed(of(quota(2, borrow=2), quota(4)), of(quota(2, borrow=1), quota(4))) == ()


def test_smaller_nodes_are_one_cause_for_all_teams() -> None:
    smaller = {HARDWARE: {"system": {"cpu": 40}}}
    causes = {each.cause: each.teams for each in disturbed({}, smaller)}
    assert causes["allocatable of a node of pool `dgx-h100` is lowered"] == ("nlp", "vision")


def test_transfer_touches_only_who_gives() -> None:
    """Who gains owns more than others can take back, and lends no less in sum."""
    before = of(quota(2, borrow=4), quota(4, borrow=2))
    after = of(quota(4, borrow=4), quota(2, borrow=2))
    (gives,) = disturbed(before, after)
    assert gives.teams == ("vision",)
    assert gives.cause == "quota of team `vision` on `dgx-h100` 4 -> 2 nodes"


def _third(nodes: int, **more: int) -> dict[str, Any]:
    """Return a third team in the cohort."""
    audio = {**changed({}).teams["nlp"].value, **quota(nodes, **more), "largestJob": None}
    line = {"partition": "0x0103", "addresses": "10.64.32.0/20"}
    return {
        "teams/audio.yaml": {**audio, "groups": {"user": ["audio"]}},
        LEDGER: {"prod-east": {"ib": {"audio": line}}},
    }


@pytest.mark.parametrize(("borrow", "teams"), [(0, ("nlp",)), (2, ("audio", "nlp"))])
def test_borrower_of_a_transferred_node_is_named(borrow: int, teams: tuple[str, ...]) -> None:
    """Vision takes the node that nlp left free; a bystander that borrows nothing keeps all."""
    before = {**of(quota(4), quota(2)), **_third(1, borrow=borrow)}
    after = {**of(quota(3), quota(3)), **_third(1, borrow=borrow)}
    assert {each.teams for each in disturbed(before, after)} == {teams}


@pytest.mark.parametrize("parent", ["", "company"])
def test_cohort_with_another_name_evicts_nobody(parent: str) -> None:
    def named(cohort: str) -> dict[str, Any]:
        cohorts = {"company": {}, cohort: {"parent": parent} if parent else {}, "research": None}
        both = {**of(quota(2, borrow=2), quota(4))}
        teams = {name: {**team, "cohort": cohort} for name, team in both.items()}
        return {**teams, CLUSTER: {"cohorts": {**cohorts, cohort: cohorts[cohort] or {}}}}

    assert disturbed(named("research"), named("science")) == ()


@pytest.mark.parametrize("sync", ["automatic", "with-platform"])
def test_synced_nodes_release_what_waited(sync: str) -> None:
    automatic = {CLUSTER: {"nodes": {"sync": sync}}}
    (released,) = disturbed({}, automatic)
    assert (released.effect, released.nodes) == (Effect.UNLOCKS, 9)
    assert released.cause == "`nodes/` is synced automatically"
    assert disturbed(automatic, {}) == ()


def test_team_in_another_cohort_may_lose_what_it_borrows_there() -> None:
    cohorts: dict[str, Any] = {CLUSTER: {"cohorts": {"research": {}, "other": {}}}}
    third = merged(_third(1), {"teams/audio.yaml": {"cohort": "other"}})
    before = {**of(quota(2, borrow=2), quota(2, borrow=1)), **cohorts, **third}
    after = {**before, NLP: {**before[NLP], "cohort": "other"}}
    (moved,) = disturbed(before, after)
    assert (moved.cause, moved.teams) == ("cohort of team `nlp` research -> other", ("nlp",))
    alone = merged(before, {"teams/audio.yaml": {"cohort": "research"}})
    (moved,) = disturbed(alone, merged(alone, {NLP: {"cohort": "other"}}))
    assert moved.teams == ("vision",), "nobody in the new cohort needs what nlp has"


def test_fair_sharing_evicts_who_borrows() -> None:
    borrows = of(quota(2, borrow=2), quota(4))
    shared = {**borrows, CLUSTER: {"sharing": "fair"}}
    classical = {**borrows, CLUSTER: {"sharing": "classical"}}
    (sharing,) = disturbed(classical, shared)
    assert (sharing.cause, sharing.teams) == ("borrowed nodes are shared by weight", ("nlp",))
    assert disturbed(shared, classical) == ()


@pytest.mark.parametrize("sharing", ["classical", "fair"])
def test_cohort_at_the_top_is_not_shared_by_weight(sharing: str) -> None:
    """Its object states a weight there, which nothing reads."""
    borrows = of(quota(2, borrow=2), quota(4))

    def research(**parent: str) -> dict[str, Any]:
        cohorts = {"company": {}, "research": parent}
        return {**borrows, CLUSTER: {"sharing": sharing, "cohorts": cohorts}}

    moves = disturbed(research(parent="company"), research())
    moves += disturbed(research(), research(parent="company"))
    assert not [each.cause for each in moves if "weight" in each.cause]


@pytest.mark.parametrize(
    ("old", "value"), [(500, 600), (500, 1000), (500, 1500), (1000, 500), (1500, 1000)]
)
def test_priority_with_another_value_evicts(old: int, value: int) -> None:
    """Jobs get the value one by one: one that waits may have it before one of its own that runs.

    Seen with Kueue 0.19.2 in two of seven such changes (`tests/e2e/test_reality.py`).
    """
    before, after = (
        {CLUSTER: {"priorities": {"batch": each, "production": 1000}}} for each in (old, value)
    )
    assert [each.effect for each in disturbed(before, after)] == [Effect.RECLAIMS]


def test_priority_that_another_leaves_behind_evicts_nobody() -> None:
    """No job has the class that is new, and nobody may take the class that is gone."""
    both = {CLUSTER: {"priorities": {"batch": 500, "production": 1000}}}
    fewer = {CLUSTER: {"priorities": {"batch": 500, "production": None, "urgent": 550}}}
    assert disturbed(both, fewer) == ()


def test_immutable_fields_of_all_volumes_are_one_cause() -> None:
    moved = {CLUSTER: {"storage": {"home": {"nfs": {"path": "/elsewhere"}}}}}
    (recreated,) = disturbed({}, moved)
    assert (recreated.effect, recreated.teams) == (Effect.RECREATES, ("nlp", "vision"))
    assert recreated.cause == "nfs.path of volumes for `home` changes"
    assert (recreated.nodes, recreated.gpus) == (0, 0)


@pytest.mark.parametrize(
    ("release", "effect"),
    [("openshift-ai-3.5", Effect.UNCOUNTS), ("kubernetes-1.36", Effect.EVICTS)],
)
@pytest.mark.parametrize(
    "edit",
    [{"image": IMAGE}, {"export": ["DATA_FOLDER"]}],
    ids=["image", "export"],
)
def test_runtime_with_other_containers_stops_jobs_of_the_teams_that_list_it(
    release: str, effect: Effect, edit: dict[str, Any]
) -> None:
    """Kueue compares whole containers, so an image is not an exception."""
    on = {CLUSTER: {"release": release}}
    (stopped,) = disturbed(on, {**on, "runtimes/openmpi-cuda.yaml": edit})
    assert (stopped.effect, stopped.teams) == (effect, ("nlp", "vision"))
    assert stopped.cause == "containers of runtime `openmpi-cuda-v1-dgx-h100` are edited in place"


@pytest.mark.parametrize("edit", [{"sharedMemory": "128Gi"}, {"restarts": 3}], ids=str)
def test_runtime_with_the_same_containers_stops_nobody(edit: dict[str, Any]) -> None:
    assert disturbed({}, {"runtimes/openmpi-cuda.yaml": edit}) == ()


def test_next_version_of_a_runtime_disturbs_nobody() -> None:
    assert disturbed({}, {"runtimes/openmpi-cuda.yaml": {"version": 2}}) == ()


def keeping(keep: str) -> dict[str, Any]:
    image = f"registry.example.com/platform/kubectl@sha256:{64 * '1'}"
    return {CLUSTER: {"finishedJobs": {"keep": keep, "image": image}}}


@pytest.mark.parametrize("before", [{}, keeping("3d"), keeping("7h")])
def test_finished_jobs_that_are_kept_no_longer_are_lost(before: dict[str, Any]) -> None:
    (lost,) = disturbed(before, keeping("6h"))
    assert (lost.effect, lost.lost, lost.teams) == (
        Effect.DELETES,
        "finished jobs",
        ("nlp", "vision"),
    )
    assert lost.cause == "TrainJobs that finished more than 6h ago go, with their pods and logs"
    assert "a revert brings none back" in lost.consequence
    assert (lost.nodes, lost.gpus) == (0, 0)


@pytest.mark.parametrize("after", [{}, keeping("3d"), keeping("8d")])
def test_finished_jobs_that_are_kept_longer_stay(after: dict[str, Any]) -> None:
    """Also where the clean-up is removed."""
    assert disturbed(keeping("3d"), after) == ()


def test_clean_up_finds_no_jobs_of_a_new_cluster() -> None:
    both = sides({}, keeping("6h"))
    assert found(replace(both, old=None, before={})) == found(
        replace(sides({}, {}), old=None, before={})
    )


def test_runtime_that_is_edited_stops_no_job_on_other_nodes() -> None:
    """A pool has no job with a runtime for other hardware, and lends none to another cohort."""
    small = {"hardware": "small", "nodes": 3, "reserve": 1, "fabric": "ib"}
    base: dict[str, Any] = {
        "hardware/small.yaml": {"extends": "nvidia-dgx-h100"},
        CLUSTER: {"pools": {"small": small}, "cohorts": {"research": {}, "other": {}}},
        NLP: {
            "quota": {"prod-east": {"dgx-h100": {"nodes": 4, "borrow": 4}, "small": {"nodes": 2}}},
            "largestJob": None,
        },
        VISION: {"cohort": "other"},
        "runtimes/openmpi-cuda.yaml": {"hardware": ["dgx-h100", "small"]},
    }
    edited = {**base["runtimes/openmpi-cuda.yaml"], "image": IMAGE}
    seen = disturbed(base, {**base, "runtimes/openmpi-cuda.yaml": edited})
    assert [(each.teams, each.pool, each.nodes, each.gpus) for each in seen] == [
        (("nlp", "vision"), "dgx-h100", 8, 64),
        (("nlp",), "small", 2, 16),
    ]


def test_share_of_a_node_has_only_its_gpus() -> None:
    share = {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 4}}}, "largestJob": None}
    (drain,) = disturbed({NLP: share}, {NLP: {**share, "state": "draining"}})
    assert (drain.nodes, drain.gpus) == (1, 4)


def test_teams_of_a_tree_run_no_more_than_they_own_together() -> None:
    """Both borrow from each other, and not at the same time."""
    borrow = of(quota(2, borrow=3), quota(3, borrow=2))
    (drain,) = disturbed({**borrow, **mtu(2044)}, {**borrow, **mtu(4092)})
    assert (drain.nodes, drain.gpus) == (9, 40)


def test_namespace_and_claim_that_may_be_pruned_are_lost() -> None:
    both = sides({}, {NLP: {"state": "retired"}})
    bare = {key: _unannotated(each) for key, each in both.before.items()}
    kept = {
        key: each for key, each in both.before.items() if each.path.endswith("default-deny.yaml")
    }
    both = replace(both, before=bare, after={**both.after, **kept})
    lost = [each for each in found(both) if each.effect is Effect.DELETES]
    assert [each.cause for each in lost] == [
        "namespace `team-nlp` is deleted",
        "claim `team-nlp/home` is deleted",
        "claim `team-nlp/scratch` is deleted",
    ]
    assert [each.gpus for each in lost] == [32, 0, 0]


def test_cluster_whose_old_profiles_are_lost_is_measured_by_the_new_ones() -> None:
    both = replace(sides(mtu(2044), mtu(4092)), old=None)
    assert [(each.nodes, each.gpus) for each in found(both)] == [(9, 64)]


def test_cluster_without_profiles_has_no_numbers() -> None:
    both = replace(sides({}, {}), old=None, new=None, after={})
    assert found(both) == ()


CHANGES: tuple[Mapping[str, Any], ...] = (
    mtu(2044),
    {NLP: {"state": "draining"}},
    {NLP: {"state": "retired"}},
    of(quota(1), quota(6)),
    of(quota(2, borrow=2), quota(1)),
    {HARDWARE: {"nic": {"virtualFunctions": 4}}},
    {HARDWARE: {"kubelet": {"cpu": 10}, "system": {"cpu": 40}}},
    {CLUSTER: {"sharing": "classical"}},
    {CLUSTER: {"priorities": {"batch": 1500, "production": 1000}}},
    {},
)


def _pairs() -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    yield from ((old, new) for old in CHANGES for new in CHANGES if old is not new)


@pytest.mark.parametrize(("before", "after"), list(_pairs()))
def test_every_disruption_is_possible(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """No more GPUs than the pool has, each cause once, the worst first, in any order of objects."""
    both = sides(before, after)
    seen = found(both)
    nodes = _nodes(both.old)
    for each in seen:
        assert each.nodes <= nodes
        assert each.gpus <= 8 * min(nodes, each.nodes or nodes)
        assert each.cause
        assert each.consequence.endswith(".")
        assert (each.pace != "") == (each.effect in {Effect.DRAINS, Effect.REBOOTS})
    assert len({(each.effect, each.cause) for each in seen}) == len(seen)
    assert [each.effect for each in seen] == sorted((each.effect for each in seen), reverse=True)
    turned = replace(
        both,
        before=dict(reversed(list(both.before.items()))),
        after=dict(reversed(list(both.after.items()))),
    )
    assert found(turned) == seen


def _nodes(site: Site | None) -> int:
    assert site is not None
    return sum(pool.nodes for pool in site.cluster.pools)


def mpi_jobs(until: str) -> dict[str, Any]:
    return {NLP: {"mpiJobs": {"prod-east": {"until": until}}}}


def test_removed_time_for_mpi_jobs_ends_those_that_run() -> None:
    """Their ranks lose the network; another last day is about new ones only."""
    (lost,) = disturbed(mpi_jobs("2027-01-31"), {})
    assert (lost.effect, lost.lost, lost.teams) == (Effect.DELETES, "running MPIJobs", ("nlp",))
    assert lost.cause == "`mpiJobs` of team nlp is removed"

    assert disturbed({}, mpi_jobs("2027-01-31")) == ()
    assert disturbed(mpi_jobs("2027-01-31"), mpi_jobs("2026-01-31")) == ()
