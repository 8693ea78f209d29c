"""What the committed tree and its replacement tell of each other, beside the cases."""

from __future__ import annotations

from typing import Any

import pytest

from generator.change.check import check_replacement
from generator.change.differences import differences, few
from generator.diagnostics import Diagnostic
from tests.rules.cases import replacements

IMAGE = "registry.example.com/ml/openmpi-cuda@sha256:1c5e0f2d9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d"
TWO_POOLS = {"clusters/prod-east.yaml": {"pools": {"b": {"hardware": "dgx-h100", "nodes": 5, "fabric": "ib"}}}}
CPU: dict[str, Any] = {
    "hardware/cpu.yaml": {
        "extends": "cpu-node",
        "labels": {"example.com/cpu": "true"},
        "cpu": {"sockets": 2, "cores": 64, "threads": 128},
        "memory": "512Gi",
        "ephemeralStorage": "1Ti",
    },
    "clusters/prod-east.yaml": {"pools": {"cpu": {"nodes": 4}}},
}


def _found(after: dict[str, Any], before: dict[str, Any] | None = None) -> list[Diagnostic]:
    return [each for replacement in replacements(before or {}, after) for each in check_replacement(replacement)]


@pytest.mark.parametrize(
    "after",
    [
        {},
        {"runtimes/openmpi-cuda.yaml": {"displayName": "Open MPI", "deprecated": {"end": "2027-03-31"}}},
        {"runtimes/openmpi-cuda.yaml": {"version": 2, "image": IMAGE}},
        {"teams/vision.yaml": {"state": "retired"}},
        {"clusters/prod-east.yaml": {"pools": {"dgx-h100": {"nodes": 12}}}},
        {"teams/nlp.yaml": {"quota": {"prod-east": {"dgx-h100": {"nodes": 2}}}, "storage": {"scratch": None}}},
        {"clusters/prod-east.yaml": {"fabrics": {"ib": {"addresses": "10.64.0.0/12"}}}},
    ],
    ids=["nothing", "labels", "version", "retired", "nodes", "less", "range"],
)
def test_what_is_free_to_change(after: dict[str, Any]) -> None:
    """Texts, new versions, retired teams, sizes and ranges are changed any day."""
    assert _found(after) == []


def test_runtime_is_told_with_its_reach() -> None:
    """A long value only differs, what is the same in several pods is told once, who may run it is counted."""
    (found,) = _found({"runtimes/openmpi-cuda.yaml": {"image": IMAGE}})

    assert found.message.endswith("image differs in node and launcher; namespaces that may run it: 2")
    assert found.at.path == ("version",)


def test_change_of_trainyard_names_the_two_versions() -> None:
    """Whoever upgraded sees why a runtime differs that nobody touched."""
    (replacement,) = replacements({}, {"runtimes/openmpi-cuda.yaml": {"image": IMAGE}})
    older = type(replacement)(replacement.platform, replacement.site, "0.0.9", replacement.before, replacement.after)
    (found,) = check_replacement(older)

    assert any("written by Trainyard 0.0.9" in note.message for note in found.notes)


def test_runtime_that_changes_its_networks_shows_the_fabric() -> None:
    """Rails come from the cluster, not from the runtime's own file."""
    (found,) = _found({"runtimes/openmpi-cuda.yaml": {"fabric": "tcp"}})

    assert [note.at.path for note in found.notes if note.at] == [(), ("fabrics", "ib")]


def test_drained_queue_may_lose_a_pool() -> None:
    """Only a state that is committed already counts: what this change says of it comes too late."""
    moved = {"quota": {"prod-east": {"dgx-h100": None, "b": {"nodes": 4}}}}
    (found,) = _found({**TWO_POOLS, "teams/nlp.yaml": {**moved, "state": "draining"}}, TWO_POOLS)

    assert found.rule == "change/flavor-leaves-queue"
    assert (found.at.file, found.at.path) == ("profiles/teams/nlp.yaml", ("quota", "prod-east"))
    assert _found({**TWO_POOLS, "teams/nlp.yaml": moved}, {**TWO_POOLS, "teams/nlp.yaml": {"state": "draining"}}) == []


def test_queue_that_goes_loses_all_its_pools() -> None:
    """A team that stays on the cluster keeps the queue that its jobs run in."""
    before = {**CPU, "teams/nlp.yaml": {"quota": {"prod-east": {"cpu": {"nodes": 2}}}}}
    (found,) = _found(CPU, before)

    assert "`nlp-cpu` of cluster `prod-east` loses pool `cpu`" in found.message


@pytest.mark.parametrize("state", ["active", "retired"])
def test_entry_that_is_gone(state: str) -> None:
    """What a team held stays its own, a tombstone's above all, and who has it now is shown."""
    taken = {"nlp": None, "vision": {"partition": "0x0101"}}
    after = {"allocations.yaml": {"prod-east": {"ib": taken}}, "teams/nlp.yaml": {"state": state}}
    found = {each.message: each for each in _found(after)}
    (gone,) = (each for message, each in found.items() if message.endswith("its entry is gone"))

    assert [note.message for note in gone.notes] == ["team vision has it now"]
    assert len(found) == 2


def test_larger_block_around_the_old_one_is_no_move() -> None:
    """Pods keep addresses that are still the team's."""
    assert _found({"allocations.yaml": {"prod-east": {"ib": {"vision": {"addresses": "10.64.0.0/19"}}}}}) == []


def test_volumes_are_told_at_the_kind_of_storage() -> None:
    """One line of the cluster changes the claims of every team: that line is shown, once."""
    found = _found({"clusters/prod-east.yaml": {"storage": {"home": {"nfs": {"path": "/export/other"}}}}})

    assert [each.at.path for each in found] == [("storage", "home")]
    assert "`prod-east-nlp-home`, `prod-east-vision-home`" in found[0].message


def test_flavor_is_told_at_its_hardware() -> None:
    """The labels that a flavor selects nodes by stand in the profile of the nodes."""
    found = _found({"hardware/dgx-h100.yaml": {"labels": {"example.com/rack": "7"}}})
    flavors = [each for each in found if each.rule == "change/immutable-field"]

    assert [each.at.file for each in flavors] == ["profiles/hardware/dgx-h100.yaml"]


def test_flavor_without_topology_may_change() -> None:
    """Kueue keeps the labels of a flavor only where the flavor names a topology."""
    other = {"hardware/cpu.yaml": {**CPU["hardware/cpu.yaml"], "labels": {"example.com/cpu": "yes"}}}

    assert _found({**CPU, **other}, CPU) == []


def test_differences_go_by_name() -> None:
    """A member of a list that moved is no change; what is new or gone says so."""
    old = {"env": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}], "ports": [1], "gone": True}
    new = {"env": [{"name": "b", "value": "2"}, {"name": "a", "value": "x\ny"}], "ports": [1, 2], "new": ""}

    assert [(each.path, each.told) for each in differences(old, new)] == [
        ("env[a].value", "differs"),
        ("ports", "[1] -> [1, 2]"),
        ("gone", "true -> none"),
        ("new", 'none -> ""'),
    ]


def test_few_counts_the_rest() -> None:
    """A message stays a sentence whatever the number of objects."""
    assert (few("ab"), few("abcde")) == ("a, b", "a, b, c and 2 more")
