"""What the committed tree and its replacement tell of each other, beside the cases."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any

import pytest

from tests.rules.cases import merged, replacements
from trainyard.change.history.check import check_replacement
from trainyard.diagnostics import Diagnostic
from trainyard.model.differences import differences, few
from trainyard.model.holding import Holding
from trainyard.model.manifest import Manifest

IMAGE = "registry.example.com/ml/openmpi-cuda@sha256:1c5e0f2d9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d"  # noqa: E501 - one value
TWO_POOLS = {
    "clusters/prod-east.yaml": {
        "pools": {"b": {"hardware": "dgx-h100", "nodes": 5, "fabric": "ib"}}
    }
}
FABRIC = {"link": "infiniband", "addresses": "10.96.0.0/13", "levels": ["example.com/leaf"]}
CPU: dict[str, Any] = {
    "hardware/cpu.yaml": {
        "extends": "cpu-node",
        "labels": {"example.com/cpu": "true"},
        "cpu": {"sockets": 2, "cores": 64, "threads": 128},
        "memory": "512Gi",
        "ephemeralStorage": "1Ti",
        "taint": "ml.example.com/cpu",
    },
    "clusters/prod-east.yaml": {"pools": {"cpu": {"nodes": 4}}},
}


def _found(after: dict[str, Any], before: dict[str, Any] | None = None) -> list[Diagnostic]:
    return [
        each
        for replacement in replacements(before or {}, after)
        for each in check_replacement(replacement)
    ]


@pytest.mark.parametrize(
    "after",
    [
        {},
        {
            "runtimes/openmpi-cuda.yaml": {
                "displayName": "Open MPI",
                "deprecated": {"end": "2027-03-31"},
            }
        },
        {"runtimes/openmpi-cuda.yaml": {"version": 2, "image": IMAGE}},
        {"clusters/prod-east.yaml": {"pools": {"dgx-h100": {"nodes": 12}}}},
        {
            "teams/nlp.yaml": {
                "quota": {"prod-east": {"dgx-h100": {"nodes": 2}}},
                "storage": {"scratch": None},
            }
        },
        {"clusters/prod-east.yaml": {"fabrics": {"ib": {"addresses": "10.64.0.0/12"}}}},
        {"teams/nlp.yaml": {"claims": {"scratch": "4Ti"}}},
    ],
    ids=["nothing", "labels", "version", "nodes", "less", "range", "claims"],
)
def test_what_is_free_to_change(after: dict[str, Any]) -> None:
    """Texts, new versions, sizes and ranges are changed any day, and the change is reverted any
    day."""
    assert _found(after) == []
    assert _found({}, after) == []


def test_runtime_is_told_with_its_reach() -> None:
    """A long value only differs, what is the same in several pods is told once, who may run it is
    counted."""
    (found,) = _found({"runtimes/openmpi-cuda.yaml": {"image": IMAGE}})

    assert found.message.endswith(
        "image differs in node and launcher; namespaces that may run it: 2"
    )
    assert found.at.path == ("version",)


def test_change_of_trainyard_names_the_two_versions() -> None:
    """Whoever upgraded sees why a runtime differs that nobody touched."""
    (replacement,) = replacements({}, {"runtimes/openmpi-cuda.yaml": {"image": IMAGE}})
    (found,) = check_replacement(replace(replacement, tool="0.0.9"))

    assert any("written by Trainyard 0.0.9" in note.message for note in found.notes)


def test_runtime_that_changes_its_networks_shows_the_fabric() -> None:
    """Rails come from the cluster, not from the runtime's own file."""
    (found,) = _found({"runtimes/openmpi-cuda.yaml": {"fabric": "tcp"}})

    assert [note.at.path for note in found.notes if note.at] == [(), ("fabrics", "ib")]


RENAMED = {
    "clusters/prod-east.yaml": {"fabrics": {"ib": {"resources": "rails"}}},
    "runtimes/openmpi-cuda.yaml": {"version": 2},
}


def test_rails_of_several_pools_are_told_once() -> None:
    """They are renamed by one line of the cluster's profile; a pool without a running team is no
    matter."""
    quota = {"teams/nlp.yaml": {"quota": {"prod-east": {"b": {"nodes": 2}}}}}
    both = {**TWO_POOLS, **quota}
    (found,) = _found({**both, **RENAMED, **_with(TWO_POOLS, RENAMED)}, both)

    assert "rails of pool `b`, `dgx-h100` on cluster `prod-east`" in found.message
    assert (
        "ib_rail_0 -> rails_rail_0, ib_rail_1 -> rails_rail_1, ib_rail_2 -> rails_rail_2 and 5 more"
        in found.message
    )
    assert found.at.path == ("fabrics", "ib", "resources")
    (only,) = _found({**RENAMED, **_with(TWO_POOLS, RENAMED)}, TWO_POOLS)
    assert "rails of pool `dgx-h100` on" in only.message


def test_rails_may_be_renamed_when_nothing_runs() -> None:
    """Drained teams have no pods; and a pool that moves to another fabric is told of by its
    flavor's topology."""
    drained = {f"teams/{team}.yaml": {"state": "draining"} for team in ("nlp", "vision")}

    assert _found({**RENAMED, **drained}, drained) == []


def test_pool_on_another_fabric_is_told_once() -> None:
    """Its flavor's topology can't change; that its rails would be called otherwise follows from
    it."""
    moved = {
        "clusters/prod-east.yaml": {
            "pools": {"dgx-h100": {"fabric": "ib2"}},
            "fabrics": {"ib2": {**FABRIC, "partitions": "0x0200-0x027f"}},
        },
        "runtimes/openmpi-cuda.yaml": {"version": 2},
    }

    assert "change/rails-renamed" not in {each.rule for each in _found(moved)}


def _with(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    """Return the cluster's profile with the changes of both."""
    name = "clusters/prod-east.yaml"
    return {name: merged(one[name], two[name])}


def test_drained_queue_may_lose_a_pool() -> None:
    """Only a state that is committed already counts: what this change says of it comes too late."""
    moved = {"quota": {"prod-east": {"dgx-h100": None, "b": {"nodes": 4}}}}
    (found,) = _found({**TWO_POOLS, "teams/nlp.yaml": {**moved, "state": "draining"}}, TWO_POOLS)

    assert found.rule == "change/flavor-leaves-queue"
    assert (found.at.file, found.at.path) == ("profiles/teams/nlp.yaml", ("quota", "prod-east"))
    assert (
        _found(
            {**TWO_POOLS, "teams/nlp.yaml": moved},
            {**TWO_POOLS, "teams/nlp.yaml": {"state": "draining"}},
        )
        == []
    )


def test_queue_that_goes_loses_all_its_pools() -> None:
    """A team that stays on the cluster keeps the queue that its jobs run in."""
    before = {**CPU, "teams/nlp.yaml": {"quota": {"prod-east": {"cpu": {"nodes": 2}}}}}
    (found,) = _found(CPU, before)

    assert "`nlp-cpu` of cluster `prod-east` loses pool `cpu`" in found.message


LEDGER = "allocations.yaml"
DRAINING = {"teams/nlp.yaml": {"state": "draining"}}
RETIRED = {"teams/nlp.yaml": {"state": "retired"}}
"""State of team nlp, which has partition 0x0101 with 10.64.0.0/20; of vision they are 0x0102 with
10.64.16.0/20."""


def _ledger(**teams: dict[str, str] | None) -> dict[str, Any]:
    return {LEDGER: {"prod-east": {"ib": teams}}}


def _newcomer(**numbers: str) -> dict[str, Any]:
    """Return what is added to the profiles with a line for a team that holds no quota yet."""
    return _ledger(newco={"partition": "0x0103", "addresses": "10.64.32.0/20", **numbers})


def _rules(
    after: dict[str, Any], before: dict[str, Any] | None = None
) -> list[tuple[str, tuple[Any, ...]]]:
    return [(each.rule, each.at.path) for each in _found(after, before)]


@pytest.mark.parametrize("before", [{}, DRAINING, RETIRED], ids=["active", "draining", "retired"])
@pytest.mark.parametrize(
    "after", [{}, RETIRED, {"teams/nlp.yaml": None}], ids=["kept", "retired", "no-profile"]
)
def test_line_that_is_gone_is_found_whatever_the_state(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    """A team keeps its line while it runs, when it is drained, when it is retired and when its
    profile is gone."""
    moved = [
        each
        for each in _found({**after, **_ledger(nlp=None)}, before)
        if each.rule == "change/allocation-moved"
    ]

    assert [each.at.path for each in moved] == [("prod-east", "ib", "nlp")]
    assert (
        '`nlp: {"partition": "0x0101", "addresses": "10.64.0.0/20"}` to `prod-east.ib`'
        in moved[0].hint
    )


def test_line_of_a_removed_fabric_may_go() -> None:
    """Where there is no fabric, no pod has a number of it."""
    before = {
        "clusters/prod-east.yaml": {"fabrics": {"old": {**FABRIC, "partitions": "0x0200-0x027f"}}}
    }
    line = {"prod-east": {"old": {"nlp": {"partition": "0x0201", "addresses": "10.96.0.0/20"}}}}

    assert _found({}, {**before, LEDGER: line}) == []
    assert _rules(before, {**before, LEDGER: line}) == [
        ("change/allocation-moved", ("prod-east", "old", "nlp"))
    ]


def test_number_of_a_removed_fabric_is_not_given_on_another() -> None:
    """A fabric that is renamed is the same network, so its numbers stay with the teams that had
    them."""
    before = {
        "clusters/prod-east.yaml": {"fabrics": {"old": {**FABRIC, "partitions": "0x0200-0x027f"}}}
    }
    line = {"prod-east": {"old": {"nlp": {"partition": "0x0103", "addresses": "10.96.0.0/20"}}}}

    assert _rules(_newcomer(), {**before, LEDGER: line}) == [
        ("change/allocation-given-away", ("prod-east", "ib", "newco", "partition"))
    ]
    assert (
        _found(
            {
                **before,
                LEDGER: {"prod-east": {**line["prod-east"], **_newcomer()[LEDGER]["prod-east"]}},
            },
            {**before, LEDGER: line},
        )
        == []
    )


@pytest.mark.parametrize("before", [DRAINING, RETIRED], ids=["draining", "retired"])
@pytest.mark.parametrize(
    ("numbers", "field"),
    [
        ({"partition": "0x0101", "addresses": "10.64.0.0/20"}, "partition"),
        ({"partition": "0x0101"}, "partition"),
        ({"addresses": "10.64.0.0/20"}, "addresses"),
        ({"addresses": "10.64.8.0/24"}, "addresses"),
    ],
    ids=["both", "partition", "addresses", "part-of-them"],
)
def test_numbers_of_a_team_that_moved_are_not_given(
    before: dict[str, Any], numbers: dict[str, str], field: str
) -> None:
    """A team that runs nothing may get other numbers; nobody gets those that it had."""
    moved = {"nlp": {"partition": "0x0107", "addresses": "10.64.112.0/20"}}
    newcomer = _newcomer(**numbers)[LEDGER]["prod-east"]["ib"]

    assert _found({**before, **_ledger(**moved)}, before) == []
    assert _rules({**before, **_ledger(**moved, **newcomer)}, before) == [
        ("change/allocation-given-away", ("prod-east", "ib", "newco", field))
    ]


def test_number_that_was_given_long_ago_is_told_with_its_day() -> None:
    """What a lockfile remembers counts permanently, and the note says since when."""
    (replacement,) = replacements({}, _newcomer())
    former = Holding(
        "ib", "audio", "partition", 0x0103, IPv4Network("10.64.96.0/20"), "2026-03-01", former=True
    )
    (found,) = check_replacement(replace(replacement, holdings=(*replacement.holdings, former)))

    assert found.message == (
        "team newco would get partition 0x0103 on fabric `ib` of cluster `prod-east`, which team "
        "audio was given"
    )
    assert [note.message for note in found.notes] == [
        (
            "the lockfile remembers that team audio was given partition 0x0103 with 10.64.96.0/20 "
            "on 2026-03-01"
        )
    ]


def test_team_gets_its_own_old_number_back() -> None:
    """A revert of a move is not a gift: the number was never anybody else's."""
    (replacement,) = replacements({**DRAINING, **_ledger(nlp={"partition": "0x0105"})}, DRAINING)
    former = Holding("ib", "nlp", "partition", 0x0101, IPv4Network("10.64.0.0/20"), former=True)

    assert (
        list(check_replacement(replace(replacement, holdings=(*replacement.holdings, former))))
        == []
    )


def test_line_that_stays_is_never_a_gift() -> None:
    """Two teams that have one number by a merge of lockfiles are told once, by what compares the
    ledger's lines."""
    (replacement,) = replacements(_newcomer(), _newcomer())
    twin = Holding("ib", "audio", "partition", 0x0103, IPv4Network("10.64.32.0/20"), former=True)

    assert (
        list(check_replacement(replace(replacement, holdings=(*replacement.holdings, twin)))) == []
    )


def test_retired_team_was_drained_before() -> None:
    """Draining counts once it is committed: in the same change it comes too late, and each open
    queue is named."""
    cpu = {**CPU, "teams/nlp.yaml": {"quota": {"prod-east": {"cpu": {"nodes": 2}}}}}
    (found,) = _found({**CPU, "teams/nlp.yaml": {"state": "retired"}}, cpu)

    assert (found.rule, found.at.path) == ("change/retired-without-draining", ("state",))
    assert "may run in ClusterQueue nlp-cpu, nlp-gpu of cluster `prod-east`" in found.message
    assert _found(RETIRED, DRAINING) == []
    assert _found(RETIRED, RETIRED) == []


def test_active_team_comes_back() -> None:
    """A revert of either step is free: the team's queues and numbers are its own."""
    assert _found({}, DRAINING) == []
    assert _found(DRAINING, RETIRED) == []
    assert _found({}, RETIRED) == []


def test_larger_block_around_the_old_one_is_no_move() -> None:
    """Pods keep addresses that are still the team's."""
    before, after = (
        _ledger(vision={"addresses": block}) for block in ("10.64.32.0/20", "10.64.32.0/19")
    )

    assert _found(after, before) == []
    assert _rules(before, after) == [
        ("change/allocation-moved", ("prod-east", "ib", "vision", "addresses"))
    ]


_FIRST_GPUS = {"quota": {"prod-east": {"dgx-h100": {"nodes": 4}, "cpu": {"nodes": 2}}}}


def _cpu_team(team: dict[str, Any]) -> dict[str, Any]:
    """Return changes after which team nlp has CPU nodes, and others that it states."""
    return {
        **CPU,
        "runtimes/openmpi-cuda.yaml": {"hardware": ["cpu", "dgx-h100"]},
        "teams/nlp.yaml": {
            "quota": {"prod-east": {"dgx-h100": None, "cpu": {"nodes": 2}}},
            "storage": None,
            **team,
        },
    }


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ({}, _FIRST_GPUS, True),
        ({}, {**_FIRST_GPUS, "defaultQueue": "cpu"}, False),
        ({}, {**_FIRST_GPUS, "defaultQueue": "none"}, False),
        ({**_FIRST_GPUS, "defaultQueue": "none"}, _FIRST_GPUS, False),
        ({**_FIRST_GPUS, "defaultQueue": "cpu"}, {}, False),
        (_FIRST_GPUS, {}, True),
    ],
)
def test_queue_of_jobs_without_a_label_moves_in_two_steps(
    before: dict[str, Any], after: dict[str, Any], moved: bool
) -> None:
    """A LocalQueue never leads to another ClusterQueue, so the finding names both ways out."""
    found = [
        each
        for each in _found(_cpu_team(after), _cpu_team(before))
        if each.rule == "change/immutable-field" and "LocalQueue" in each.message
    ]

    assert len(found) == moved
    for each in found:
        old = "cpu" if not before else "gpu"
        assert "`team-nlp/default`" in each.message
        assert f"Set `defaultQueue: {old}`" in each.hint
        assert "`defaultQueue: none` in this change" in each.hint


def test_a_further_name_moves_to_the_other_class_in_two_steps() -> None:
    """Also where the way out of another LocalQueue is `defaultQueue`."""
    pools = {"quota": {"prod-east": {"dgx-h100": {"nodes": 2}, "cpu": {"nodes": 2}}}}
    before, after = (
        {**_cpu_team({}), "teams/nlp.yaml": {**pools, "storage": None, "queues": {key: ["jobs"]}}}
        for key in ("gpu", "cpu")
    )
    (found,) = (each for each in _found(after, before) if each.rule == "change/immutable-field")

    assert "`team-nlp/jobs`" in found.message
    assert "remove it from `queues` in this change" in found.hint
    assert "jobs" not in str(_found(before, before))


def test_claim_of_a_storage_class_may_grow_and_not_shrink() -> None:
    """Its class resizes the volume; no volume is ever made smaller."""
    grown, shrunk = (
        {"teams/nlp.yaml": {"storage": {"scratch": size}}} for size in ("30Ti", "10Ti")
    )
    (found,) = _found(shrunk)

    assert _found(grown) == []
    assert found.message.endswith("changes resources.requests.storage: 20Ti -> 10Ti")
    assert (found.notes, found.hint.startswith("Restore the old value.")) == ((), True)


def test_a_claim_grows_as_far_as_the_committed_quota_has_room() -> None:
    """The quota counts the home too: it has room for nine times 22Ti beside what is claimed."""
    changes = [{"teams/nlp.yaml": {"storage": {"scratch": size}}} for size in ("218Ti", "219Ti")]
    (found,) = _found(changes[1])

    assert _found(changes[0]) == []
    assert (found.rule, found.at.path) == ("change/claim-grows-too-far", ("storage", "scratch"))
    assert found.hint.startswith("Set at most 218Ti,")


def test_what_admins_may_claim_is_no_room_for_growth() -> None:
    """Their claims may be there, up to the sum that they may claim."""
    claims = {"claims": {"scratch": "500Ti"}}
    grown, too_far = (
        {"teams/nlp.yaml": {**claims, "storage": {"scratch": size}}} for size in ("200Ti", "201Ti")
    )

    assert _found(grown, {"teams/nlp.yaml": claims}) == []
    (found,) = _found(too_far, {"teams/nlp.yaml": claims})
    assert found.hint.startswith("Set at most 200Ti,")


def test_a_quota_of_an_older_version_has_no_room() -> None:
    """It said no sum, and was exactly as large as its claims."""
    (change,) = replacements({}, {"teams/nlp.yaml": {"storage": {"scratch": "21Ti"}}})
    for quota in change.old("ResourceQuota"):
        del quota.body["metadata"]["annotations"]
    (found,) = check_replacement(change)

    assert found.rule == "change/claim-grows-too-far"
    assert found.hint.startswith("The committed quota has no room: keep the size")


@pytest.mark.parametrize(("size", "quoted"), [("3Ti", True), ("1Ti", False)], ids=["up", "down"])
def test_claim_of_nfs_keeps_its_size(size: str, quoted: bool) -> None:
    """It is bound to a volume of ours, which nothing resizes; its size limits nothing either."""
    (found,) = _found({"teams/nlp.yaml": {"storage": {"home": size}}})

    assert (found.rule, found.at.path) == ("change/immutable-field", ("storage", "home"))
    assert found.message.endswith(f"changes resources.requests.storage: 2Ti -> {size}")
    assert found.hint.startswith("Restore the size. On NFS it limits nothing")
    assert [
        "only dynamically provisioned pvc can be resized" in note.message for note in found.notes
    ] == [True] * quoted


def test_answer_is_quoted_for_its_own_kind_only() -> None:
    """A volume is not refused in the words for a topology."""
    cluster = {
        "fabrics": {"ib": {"levels": ["ml.example.com/spine", "ml.example.com/leaf"]}},
        "external": {"NodeLabel/ml.example.com/spine": "fabric team"},
        "storage": {"home": {"nfs": {"server": "other.corp.internal"}}},
    }
    found = _found({"clusters/prod-east.yaml": cluster})
    notes = {each.message.split()[0]: [note.message for note in each.notes] for each in found}

    assert notes == {
        "PersistentVolume": [],
        "Topology": [
            "Kueue's answer was `spec.levels: field is immutable` (seen with Kueue 0.19.2)"
        ],
    }
    assert not any("`" in each.consequence for each in found)


def test_volumes_are_told_at_the_kind_of_storage() -> None:
    """One line of the cluster changes the claims of every team: that line is shown, once."""
    found = _found(
        {"clusters/prod-east.yaml": {"storage": {"home": {"nfs": {"path": "/export/other"}}}}}
    )

    assert [each.at.path for each in found] == [("storage", "home")]
    assert "`prod-east-nlp-home`, `prod-east-vision-home`" in found[0].message


def test_flavor_is_told_at_its_hardware() -> None:
    """The labels that a flavor selects nodes by stand in the profile of the nodes."""
    found = _found({"hardware/dgx-h100.yaml": {"labels": {"example.com/rack": "7"}}})
    flavors = [each for each in found if each.rule == "change/immutable-field"]

    assert [each.at.file for each in flavors] == ["profiles/hardware/dgx-h100.yaml"]


def test_flavor_without_topology_may_change() -> None:
    """Kueue keeps the labels of a flavor only where the flavor names a topology."""
    other = {
        "hardware/cpu.yaml": {**CPU["hardware/cpu.yaml"], "labels": {"example.com/cpu": "yes"}}
    }

    assert _found({**CPU, **other}, CPU) == []


def test_differences_go_by_name() -> None:
    """A member of a list that moved is another order; what is new or gone says so."""
    old = {
        "env": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}],
        "ports": [1],
        "gone": True,
    }
    new = {
        "env": [{"name": "b", "value": "2"}, {"name": "a", "value": "x\ny"}],
        "ports": [1, 2],
        "new": "",
    }

    assert [(each.path, each.display) for each in differences(old, new)] == [
        ("env", "a, b -> b, a"),
        ("env[a].value", "differs"),
        ("ports", "[1] -> [1, 2]"),
        ("gone", "true -> none"),
        ("new", 'none -> ""'),
    ]


def test_few_counts_the_rest() -> None:
    """A message stays a sentence whatever the number of objects."""
    assert (few("ab"), few("abcde")) == ("a, b", "a, b, c and 2 more")


WITH_PLATFORM = {"clusters/prod-east.yaml": {"nodes": {"sync": "with-platform"}}}
AUTOMATIC = {"clusters/prod-east.yaml": {"nodes": {"sync": "automatic"}}}


def test_upgrade_needs_prune_false_before_objects_leave_their_unit() -> None:
    """The Application of `platform/` would delete the SR-IOV policies of a tree from before
    `nodes/` was a unit."""
    (replacement,) = replacements(WITH_PLATFORM, {})
    committed = {key: _as_before(each) for key, each in replacement.before.items()}
    (found,) = check_replacement(replace(replacement, before=committed))

    assert found.rule == "change/object-changes-unit"
    assert found.at.file == "profiles/clusters/prod-east.yaml"
    assert "move from `platform/` to `nodes/` without `Prune=false`: " in found.message
    assert "SriovNetworkNodePolicy `dgx-h100-rail-0`" in found.message


def test_older_tree_may_keep_its_objects_in_their_unit_and_move_them_later() -> None:
    """The first merge adds the annotation, the second moves the objects, and its revert moves them
    back."""
    (replacement,) = replacements(WITH_PLATFORM, WITH_PLATFORM)
    committed = {key: _as_before(each) for key, each in replacement.before.items()}
    assert list(check_replacement(replace(replacement, before=committed))) == []

    assert _found({}, WITH_PLATFORM) == []
    assert _found(WITH_PLATFORM, {}) == []
    assert _found(AUTOMATIC, {}) == []


def _as_before(manifest: Manifest) -> Manifest:
    """Return an SR-IOV object as older trees have it, without annotations; any other as it is."""
    if manifest.kind.group != "sriovnetwork.openshift.io":
        return manifest
    metadata = {
        key: each for key, each in manifest.body["metadata"].items() if key != "annotations"
    }
    return replace(manifest, body={**manifest.body, "metadata": metadata})
