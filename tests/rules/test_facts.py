"""Findings are correct: each of these once had a wrong message or a wrong place."""

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
def test_spare_cores_matter_only_if_ranks_are_bound(change: dict[str, Any]) -> None:
    """Neither torchrun nor an MPI runtime with `binding: none` binds ranks."""
    assert messages(ODD, SPARE_CORES) != []
    assert messages(ODD, {**SPARE_CORES, RUNTIME: change}) == []
    few = {HARDWARE: {"system": {"cpu": 210}}, RUNTIME: change}
    assert messages("node/fewer-cores-than-ranks", few) == []


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [(1, []), (2, ["teams own all 2 nodes of pool `spare`: no reserve is left"])],
)
def test_pool_of_one_node_needs_no_reserve(nodes: int, expected: list[str]) -> None:
    """A reserve of its only node would leave nothing of the pool."""
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "ml.example.com/spare": "yes"}
    changes = {
        CLUSTER: {"pools": {"spare": {"nodes": nodes, "fabric": "ib"}}},
        "hardware/spare.yaml": {"extends": "nvidia-dgx-h100", "labels": labels},
        NLP: {"quota": {"prod-east": {"spare": {"nodes": nodes}}}},
    }
    assert messages("capacity/no-reserve", changes) == expected


@pytest.mark.parametrize(("own", "borrow"), [(0, 4), (1, 1)])
def test_borrowing_team_gets_the_hint_to_raise_its_largest_job(own: int, borrow: int) -> None:
    """Its quota is enough for MPI, but the default of `largestJob` is only its own nodes."""
    quota = {"nodes": own, "borrow": borrow, "lend": "none"}
    team = {
        "quota": {"prod-east": {"dgx-h100": quota}},
        "largestJob": None,
        "runtimes": ["openmpi-cuda", "torch"],
    }
    (found,) = of(SMALLEST, {NLP: team, "runtimes/torch.yaml": TORCH})

    assert "jobs in `team-nlp` may have at most 1 node" in found.message
    assert found.hint.startswith("Set `largestJob: {nodes: 2}` or more; team nlp may use")
    assert found.at.path == ("quota", "prod-east", "dgx-h100", "nodes")


def test_team_with_many_nodes_gets_the_hint_to_raise_its_largest_job() -> None:
    """More nodes would not help it."""
    (found,) = of(SMALLEST, {NLP: {"largestJob": {"nodes": 1}}})

    assert found.hint == (
        "Set `largestJob: {nodes: 2}` or more; team nlp may use 4 nodes of pool `dgx-h100` (4 "
        "own, 0 borrowed)."
    )
    assert found.at.path == ("largestJob", "nodes")


def test_default_largest_job_is_reported_at_the_quota() -> None:
    """The profile has no `largestJob`, so the quota determines it."""
    changes = {
        NLP: {"largestJob": None},
        RUNTIME: {"maxNodes": 3},
        VISION: {"largestJob": {"nodes": 3}},
    }
    (found,) = of("capacity/job-larger-than-runtime-cap", changes)

    assert found.at.path == ("quota", "prod-east", "dgx-h100", "nodes")


def test_runtime_of_one_node_names_the_largest_job_to_set() -> None:
    changes = {NLP: {"largestJob": {"nodes": 2}}, RUNTIME: {"maxNodes": 1}}
    found = of("capacity/job-larger-than-runtime-cap", changes)[0]

    assert found.message.startswith("team nlp may submit a job of 2 nodes, but ")
    assert found.message.endswith(" its runtimes allow at most 1")
    assert found.hint.startswith("Set `largestJob: {nodes: 1}`. ")


@pytest.mark.parametrize(
    ("nic", "hint"),
    [
        ({"vendor": "14e4", "device": "1750"}, "Give these ports another `role` than `rail`"),
        ({"device": "101e"}, "In a virtual machine, where `lspci -nn` shows no other id"),
        ({"device": "101d"}, "Set `link: roce` on fabric `ib`, or correct the device."),
        (
            {"device": "1025"},
            "If its owner added the port to the operator's list, declare `Nic/15b3:1025`",
        ),
    ],
)
def test_declaration_is_recommended_only_if_it_helps(nic: dict[str, str], hint: str) -> None:
    """`Nic/...` in `external` declares only a port that the operator's list lacks."""
    (found,) = of("fabric/unsupported-nic", {HARDWARE: {"nic": nic}})
    declared = {"external": {f"Nic/{nic.get('vendor', '15b3')}:{nic['device']}": "network team"}}
    helps = not of("fabric/unsupported-nic", {HARDWARE: {"nic": nic}, CLUSTER: declared})

    assert found.hint.startswith(hint)
    assert ("declare" in found.hint) is helps


def test_pool_of_a_broken_hardware_profile_is_known() -> None:
    """The team's quota names an existing pool, so only the hardware profile is reported."""
    changes = {HARDWARE: {"extends": "nvidia-dgx-h1000"}}

    assert [each.message for each in findings(changes)] == [
        "there is no hardware profile or preset `nvidia-dgx-h1000`"
    ]


OF_POOL = "of the 8 that pool `dgx-h100` promises"


@pytest.mark.parametrize(
    ("quota", "message"),
    [
        ({"nodes": None, "gpus": 2}, f"no team owns 3 nodes and 6 of 8 GPUs {OF_POOL}"),
        ({"nodes": 3}, f"no team owns 1 node {OF_POOL}"),
        ({"nodes": 2}, f"no team owns 2 nodes {OF_POOL}"),
    ],
)
def test_idle_parts_of_nodes_are_reported_in_gpus(quota: dict[str, Any], message: str) -> None:
    """A message has neither 15/4 nodes nor 1 nodes."""
    changes = {NLP: {"quota": {"prod-east": {"dgx-h100": quota}}, "largestJob": None}}
    assert messages("capacity/idle-nodes", changes) == [message]


def test_idle_gpus_of_a_shared_pool_are_given_as_gpus() -> None:
    share = {"quota": {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 2}}}, "largestJob": None}
    nodes = {"clusters/prod-east.yaml": {"pools": {"dgx-h100": {"nodes": 2, "reserve": 1}}}}
    changes = {**nodes, NLP: share, "teams/vision.yaml": share}
    (found,) = [each for each in findings(changes) if each.rule == "capacity/idle-nodes"]

    assert found.message == "4 of the 8 GPUs of pool `dgx-h100` belong to no team"
    assert "`gpus`" in found.hint


def test_no_message_has_a_wrong_plural_or_a_fraction() -> None:
    """Messages of bad cases contain neither `1 nodes` nor a fraction."""
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
    r"nvidia\.com|GPU|openshift\.io/|h100|dgx"
    r"|\b(team-|nlp|vision|ghost|minimal|solver|plain|scratch)|example\.com|ib_"
    r"|\(\d{2,}\)|\b[2-9]\d* (of|out of|node|GPU)"
)


def test_quotes_of_controllers_have_placeholders() -> None:
    """They name no pool, team or number of the cluster on which they were seen."""
    quotes = {rule.id: _QUOTE.findall(rule.why) for rule in all_rules() if "seen with" in rule.why}
    named = {
        rule: [each for each in found if _SEEN_THERE.search(each)] for rule, found in quotes.items()
    }

    assert {rule: found for rule, found in named.items() if found} == {}


ABSENT = {
    "capacity/uneven-share": {"launcher"},
    "change/namespace-left-behind": {"spaces"},
    "fabric/uncounted-devices": {"devices"},
    "isolation/not-fips": {"fips"},
    "isolation/unencrypted-transit": {"fabric"},
    "node/contradicting-architecture": {"arch"},
    "node/contradicting-product": {"gpu"},
    "node/fewer-cores-than-ranks": {"binding"},
    "node/impossible-labels": {"labels"},
    "node/kubelet-share-exceeds-system": {"system"},
    "node/no-taint": {"taint"},
    "monitoring/no-monitoring": {"monitoring"},
    "node/overlapping-pools": {"labels"},
    "node/odd-core-split": {"binding"},
    "preflight/framework-left-out": {"frameworks"},
    "preflight/other-version": {"installed"},
    "runtime/fabric-without-rails": {"nics"},
    "runtime/wrong-architecture": {"arch"},
    "scheduling/no-priorities": {"priorities"},
    "scheduling/uneven-flavor-labels": {"labels"},
}
"""Absent keys that findings of bad cases are about: only the file is shown, and the key named."""


@pytest.mark.thorough
def test_every_place_of_a_finding_is_in_its_file() -> None:
    """A path leads to a value, or to the mapping that lacks it; `ABSENT` has the other ones."""
    absent: dict[str, set[str]] = {}
    for folder in case_folders():
        changes, _ = read_case(folder / "bad.yaml")
        sources = changed(changes).sources()
        for found in findings(changes):
            for at in (found.at, *(note.at for note in found.notes if note.at)):
                if at.file not in sources:
                    # An object of the base, whose profile the change renames.
                    assert found.rule.startswith("change/"), (found.rule, at)
                    continue
                there = _depth(sources[at.file].value, at.path)
                if at.path and not there:
                    absent.setdefault(found.rule, set()).add(str(at.path[0]))
                assert there in {0, len(at.path) - 1, len(at.path)}, (found.rule, at)

    assert absent == ABSENT


def _depth(value: Any, path: tuple[Step, ...]) -> int:
    """Return how many steps of a path exist."""
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
