"""Each line of the explanation page is an edit that does what the page says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.change.impact.platforms import CLUSTER, NLP, VISION, quota, sides
from tests.conftest import REPOSITORY
from trainyard.change.impact.disruption import disruptions
from trainyard.change.impact.objects import object_changes
from trainyard.change.impact.reaction import Effect

PAGE = (REPOSITORY / "docs/explanation/what-a-change-does.md").read_text(encoding="utf-8")
HARDWARE, RUNTIME = "hardware/dgx-h100.yaml", "runtimes/openmpi-cuda.yaml"

Changes = Mapping[str, Any]


def team(nodes: int, **more: int) -> dict[str, Any]:
    return {**quota(nodes, **more), "largestJob": None}


BORROWS: Changes = {NLP: team(2, borrow=2), VISION: team(4)}
COHORTS: Changes = {CLUSTER: {"cohorts": {"research": {}, "other": {}}, "sharing": "classical"}}
THIRD: Changes = {
    "teams/audio.yaml": {
        "contact": "audio@example.com",
        "groups": {"user": ["audio"]},
        "runtimes": ["openmpi-cuda"],
        "cohort": "research",
        **team(2),
    },
    "allocations.yaml": {
        "prod-east": {"ib": {"audio": {"partition": "0x0103", "addresses": "10.64.32.0/20"}}}
    },
}

IMAGE = f"registry.example.com/ml/openmpi-cuda@sha256:{64 * '1'}"

EVICTS: dict[str, tuple[Changes, Changes]] = {
    "`state: draining` of a team, a cluster or a pool": ({}, {NLP: {"state": "draining"}}),
    "fewer `nodes` in a cohort": (
        {NLP: team(4)},
        {NLP: team(2)},
    ),
    "less `lend`": (
        {**THIRD, NLP: team(4, lend=4), VISION: team(2, borrow=4)},
        {**THIRD, NLP: team(4, lend=0), VISION: team(2, borrow=4)},
    ),
    "another `cohort`, or another `parent` of a cohort": (
        {**BORROWS, **COHORTS, VISION: {**team(4), "cohort": "other"}, **THIRD},
        {
            **BORROWS,
            **COHORTS,
            VISION: {**team(4), "cohort": "other"},
            **THIRD,
            NLP: {**team(2, borrow=2), "cohort": "other"},
        },
    ),
    "`sharing: fair`, or another `weight` of a team in a cohort, or of a cohort with a `parent`": (
        {**BORROWS, CLUSTER: {"sharing": "classical"}},
        {**BORROWS, CLUSTER: {"sharing": "fair"}},
    ),
    "a priority has another value": (
        {},
        {CLUSTER: {"priorities": {"batch": 1500, "production": 1000}}},
    ),
    "containers of a runtime are edited in place, with Kueue 0.16": (
        {},
        {RUNTIME: {"image": IMAGE}},
    ),
    "the same with Kueue 0.19": (
        {CLUSTER: {"release": "kubernetes-1.36"}},
        {CLUSTER: {"release": "kubernetes-1.36"}, RUNTIME: {"image": IMAGE}},
    ),
}
"""By the first cell of a line: the base before and after it."""

EMPTIES: dict[str, tuple[Changes, Changes]] = {
    "`mtu` of a fabric": ({}, {CLUSTER: {"fabrics": {"ib": {"mtu": 2044}}}}),
    "`virtualFunctions`, PCI addresses or the link, on cards of NVIDIA": (
        {},
        {HARDWARE: {"nic": {"virtualFunctions": 4}}},
    ),
    "node labels": ({}, {HARDWARE: {"labels": {"ml.example.com/node-type": "other"}}}),
    "share of kubelet, on OpenShift": ({}, {HARDWARE: {"kubelet": {"cpu": 10}}}),
    "share of kubelet, on plain Kubernetes": (
        {CLUSTER: {"release": "kubernetes-1.36"}},
        {CLUSTER: {"release": "kubernetes-1.36"}, HARDWARE: {"kubelet": {"cpu": 10}}},
    ),
    "a new pool": (
        {},
        {CLUSTER: {"pools": {"new": {"hardware": "dgx-h100", "nodes": 4, "fabric": "ib"}}}},
    ),
}


def rows(heading: str) -> dict[str, str]:
    """Return the effect in each line of the table below a heading, by its first cell."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (.+?) \| (\w+) \|", section, re.MULTILINE)
    return {edit: effect for edit, effect in lines if effect.upper() in Effect.__members__}


def test_page_has_every_effect_from_the_least_to_the_worst() -> None:
    section = PAGE.partition("\n## ")[0]
    found = re.findall(r"^\| (\w+) \| .+ \| ([\w ]+) \|$", section, re.MULTILINE)[1:]
    assert [name for name, _ in found] == [each.name.lower() for each in Effect]
    assert [name for name, restored in found if restored == "no"] == [
        "uncounts",
        "deletes",
    ]


@pytest.mark.parametrize(("line", "effect"), rows("What evicts").items())
def test_edit_evicts(line: str, effect: str) -> None:
    assert Effect[effect.upper()] in effects(*EVICTS[line])


@pytest.mark.parametrize(("line", "effect"), rows("What empties nodes").items())
def test_edit_empties_nodes(line: str, effect: str) -> None:
    assert max(effects(*EMPTIES[line])) is Effect[effect.upper()]


def effects(before: Changes, after: Changes) -> list[Effect]:
    both = sides(before, after)
    return [each.effect for each in disruptions(both, object_changes(both))]


def test_each_edit_of_this_test_is_on_the_page() -> None:
    assert rows("What evicts").keys() == EVICTS.keys()
    assert rows("What empties nodes").keys() == EMPTIES.keys()
