"""Findings say only what is so: each of these once said something else, or stood at another
line."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.rules.cases import case_folders, changed, findings, messages, read_case, rule_of
from tests.rules.test_shares import CLUSTER, HARDWARE, NLP, RUNTIME, TORCHRUN, VISION
from trainyard.diagnostics import Diagnostic, Step
from trainyard.rulebook import all_rules

SMALLEST = "capacity/smallest-job-does-not-fit"
ODD = "node/odd-core-split"
SPARE_CORES = {HARDWARE: {"system": {"cpu": 20}}}
TORCH: dict[str, Any] = {
    "version": 1,
    "launcher": "torchrun",
    "image": f"registry.example.com/ml/torch@sha256:{'a' * 64}",
    "libraries": {"torch": "2.6.0", "cuda": "12.6"},
    "hardware": ["dgx-h100"],
    "maxNodes": 8,
}


def of(rule: str, changes: dict[str, Any]) -> list[Diagnostic]:
    """Return the findings of one rule."""
    return [each for each in findings(changes) if each.rule == rule]


@pytest.mark.parametrize(
    "change", [TORCHRUN[RUNTIME], {"binding": "none"}, TORCHRUN[RUNTIME] | {"binding": "none"}]
)
def test_cores_are_only_left_over_where_ranks_are_bound(change: dict[str, Any]) -> None:
    """torchrun binds nothing, nor does an MPI runtime with `binding: none`."""
    assert messages(ODD, SPARE_CORES) != []
    assert messages(ODD, {**SPARE_CORES, RUNTIME: change}) == []
    few = {HARDWARE: {"system": {"cpu": 210}}, RUNTIME: change}
    assert messages("node/fewer-cores-than-ranks", few) == []


@pytest.mark.parametrize(
    ("nodes", "expected"), [(1, []), (2, ["teams own all 2 nodes of pool `spare`, and none is"])]
)
def test_pool_of_one_node_is_not_asked_for_a_reserve(nodes: int, expected: list[str]) -> None:
    """A reserve of its one node would leave nothing of the pool."""
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "ml.example.com/spare": "yes"}
    changes = {
        CLUSTER: {"pools": {"spare": {"nodes": nodes, "fabric": "ib"}}},
        "hardware/spare.yaml": {"extends": "nvidia-dgx-h100", "labels": labels},
        NLP: {"quota": {"prod-east": {"spare": {"nodes": nodes}}}},
    }
    assert [
        told.removesuffix(" in reserve") for told in messages("capacity/no-reserve", changes)
    ] == expected


@pytest.mark.parametrize(("own", "borrow"), [(0, 4), (1, 1)])
def test_borrowing_team_is_told_to_raise_its_largest_job(own: int, borrow: int) -> None:
    """It reaches enough nodes; its largest job, which follows from what it owns, is too small for
    MPI."""
    quota = {"nodes": own, "borrow": borrow, "lend": "none"}
    team = {
        "quota": {"prod-east": {"dgx-h100": quota}},
        "largestJob": None,
        "runtimes": ["openmpi-cuda", "torch"],
    }
    (found,) = of(SMALLEST, {NLP: team, "runtimes/torch.yaml": TORCH})

    assert "jobs in `team-nlp` have 1 node at most" in found.message
    assert found.hint.startswith("Set `largestJob: {nodes: 2}` or more; team nlp reaches")
    assert found.at.path == ("quota", "prod-east", "dgx-h100", "nodes")


def test_team_with_many_nodes_is_told_to_raise_its_largest_job() -> None:
    """More nodes would not help it."""
    (found,) = of(SMALLEST, {NLP: {"largestJob": {"nodes": 1}}})

    assert (
        found.hint
        == "Set `largestJob: {nodes: 2}` or more; team nlp reaches 4 nodes of pool `dgx-h100` (4 "
        "own, 0 borrowed)."
    )
    assert found.at.path == ("largestJob", "nodes")


def test_largest_job_that_follows_from_quota_is_told_there() -> None:
    """No line says `largestJob`, so the quota is what decides it."""
    changes = {
        NLP: {"largestJob": None},
        RUNTIME: {"maxNodes": 3},
        VISION: {"largestJob": {"nodes": 3}},
    }
    (found,) = of("capacity/job-larger-than-runtime-cap", changes)

    assert found.at.path == ("quota", "prod-east", "dgx-h100", "nodes")


@pytest.mark.parametrize(
    ("nic", "hint"),
    [
        ({"vendor": "14e4", "device": "1750"}, "Give these ports another `role` than `rail`"),
        ({"device": "101e"}, "Take the vendor and device of the port from `lspci -nn`"),
        ({"device": "101d"}, "Set `link: roce` on fabric `ib`, or correct the device."),
        (
            {"device": "1025"},
            "If its owner added the port to the operator's list, declare `Nic/15b3:1025`",
        ),
    ],
)
def test_declaration_is_only_recommended_where_it_helps(nic: dict[str, str], hint: str) -> None:
    """`Nic/...` in `external` stands for a port that the operator's list lacks, and for nothing
    else."""
    (found,) = of("fabric/unsupported-nic", {HARDWARE: {"nic": nic}})
    declared = {"external": {f"Nic/{nic.get('vendor', '15b3')}:{nic['device']}": "network team"}}
    helps = not of("fabric/unsupported-nic", {HARDWARE: {"nic": nic}, CLUSTER: declared})

    assert found.hint.startswith(hint)
    assert ("declare" in found.hint) is helps


def test_pool_of_a_broken_hardware_profile_is_there() -> None:
    """The team's quota names a pool that exists; only its hardware is told of."""
    changes = {HARDWARE: {"extends": "nvidia-dgx-h1000"}}

    assert [each.message for each in findings(changes)] == [
        "there is no hardware profile or preset `nvidia-dgx-h1000`"
    ]


OF_POOL = "of the 8 that pool `dgx-h100` promises"


@pytest.mark.parametrize(
    ("quota", "told"),
    [
        ({"nodes": None, "gpus": 2}, f"nobody owns 3 nodes and 6 of 8 GPUs {OF_POOL}"),
        ({"nodes": 3}, f"nobody owns 1 node {OF_POOL}"),
        ({"nodes": 2}, f"nobody owns 2 nodes {OF_POOL}"),
    ],
)
def test_one_is_singular_and_parts_are_told_in_gpus(quota: dict[str, Any], told: str) -> None:
    """Nobody has 15/4 nodes, nor 1 nodes."""
    changes = {NLP: {"quota": {"prod-east": {"dgx-h100": quota}}, "largestJob": None}}
    assert messages("capacity/idle-nodes", changes) == [told]


def test_no_case_counts_one_of_something_in_the_plural() -> None:
    """Neither a fraction nor `1 nodes` is in what any bad case yields."""
    texts = {
        folder: (folder / "bad.expected").read_text(encoding="utf-8") for folder in case_folders()
    }
    odd = re.compile(
        r"(?<![\w.:/-])1 (nodes|pods|cores|ranks|rails|GPUs)\b|\b\d+/\d+ (nodes?|cores?|of pool)\b"
    )

    assert {
        rule_of(folder): odd.findall(text) for folder, text in texts.items() if odd.search(text)
    } == {}


_QUOTE = re.compile(r"`([^`]*)`")
_SEEN_THERE = re.compile(
    r"nvidia\.com|GPU|openshift\.io/|h100|dgx|\b(team-|nlp|vision|ghost|minimal|solver|plain|scratch)|example\.com|ib_"
    r"|\(\d{2,}\)|\b[2-9]\d* (of|out of|node|GPU)"
)


def test_quoted_controllers_name_nothing_of_another_cluster() -> None:
    """A pool, a team or a number of the cluster where they were seen is a placeholder in the
    quote."""
    quotes = {rule.id: _QUOTE.findall(rule.why) for rule in all_rules() if "seen with" in rule.why}
    named = {
        rule: [each for each in found if _SEEN_THERE.search(each)] for rule, found in quotes.items()
    }

    assert {rule: found for rule, found in named.items() if found} == {}


ABSENT = {
    "capacity/uneven-share": {"launcher"},
    "change/namespace-left-behind": {"spaces"},
    "isolation/not-fips": {"fips"},
    "isolation/unencrypted-transit": {"fabric"},
    "node/fewer-cores-than-ranks": {"binding"},
    "node/kubelet-share-exceeds-system": {"system"},
    "node/no-gpu-taint": {"taint"},
    "node/overlapping-pools": {"labels"},
    "node/odd-core-split": {"binding"},
    "runtime/fabric-without-rails": {"nics"},
    "scheduling/no-priorities": {"priorities"},
    "scheduling/uneven-flavor-labels": {"labels"},
}
"""Keys that bad cases leave out, and that the finding is about: the file alone is shown, and the
key named."""


def test_every_place_of_a_finding_is_in_its_file() -> None:
    """A path leads to a value or to the mapping that lacks it; an absent first key is what the
    finding is about."""
    absent: dict[str, set[str]] = {}
    for folder in case_folders():
        changes, _ = read_case(folder / "bad.yaml")
        sources = changed(changes).sources()
        for found in findings(changes):
            for at in (found.at, *(note.at for note in found.notes if note.at)):
                there = _depth(sources[at.file].value, at.path)
                if at.path and not there:
                    absent.setdefault(found.rule, set()).add(str(at.path[0]))
                assert there in {0, len(at.path) - 1, len(at.path)}, (found.rule, at)

    assert absent == ABSENT


def _depth(value: Any, path: tuple[Step, ...]) -> int:
    """Return how many steps of a path lead somewhere."""
    for depth, step in enumerate(path):
        known: Any = (
            value
            if isinstance(value, dict)
            else dict(enumerate(value if isinstance(value, list) else ()))
        )
        if step not in known:
            return depth
        value = known[step]
    return len(path)
