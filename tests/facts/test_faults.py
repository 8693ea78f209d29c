"""Each planted fault is found by its rule, at its place, and nothing else is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.facts.faults import (
    AFTER,
    BEFORE,
    EAST,
    FAULTS,
    LAB,
    SITE_FLAVOR,
    Fault,
    site_queue,
)
from tests.rules.clusters import live_with
from trainyard.generation.generate import generate
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.rules.live import RULES
from trainyard.workflows.preflight import compare

ROOT = Path(__file__).resolve().parents[2]


@cache
def _trees() -> dict[str, tuple[Site, tuple[Manifest, ...]]]:
    """Return each cluster of this repository with its tree; once for all rows."""
    generation = generate(ROOT / "profiles", "../profiles/components")
    platform = generation.checked.platform
    assert platform
    return {site.name: (site, generation.manifests[site.name]) for site in platform.sites}


def _said(cluster: str, phase: str, objects: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield rule and place of each finding of a cluster with a fault."""
    for found in compare(live_with(*_trees()[cluster], phase, objects, {})):
        path = ".".join(map(str, found.at.path))
        place = f"{found.at.file.removeprefix('profiles/')} {path}".strip()
        yield found.rule.removeprefix("preflight/"), place


@pytest.mark.parametrize("cluster", [LAB, EAST])
@pytest.mark.parametrize("phase", [BEFORE, AFTER])
def test_nothing_is_said_of_a_healthy_cluster(cluster: str, phase: str) -> None:
    assert list(_said(cluster, phase, {})) == []


@pytest.mark.parametrize("phase", [BEFORE, AFTER])
@pytest.mark.parametrize(
    "queue",
    [
        site_queue("Hold", "0"),
        site_queue("HoldAndDrain", "0"),
        site_queue("None", "0", 0),
    ],
    ids=["held", "drained", "without quota"],
)
def test_old_queue_that_reserves_nothing_is_healthy(phase: str, queue: Mapping[str, Any]) -> None:
    objects = {"ResourceFlavor/site": SITE_FLAVOR, "ClusterQueue/site": queue}
    assert list(_said(LAB, phase, objects)) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_planted_fault_is_found(fault: Fault) -> None:
    assert set(_said(fault.cluster, fault.phase, fault.objects)) == {(fault.rule, fault.place)}


ELSEWHERE = {
    "adopted-differs",
    "adopted-missing",
    "closed-network-opened",
    "framework-left-out",
    "kueue-keys-gained",
    "kueue-keys-lost",
    "node-of-two-pools",
    "old-facts",
    "queue-of-a-team",
}
"""Rules of which only tests/rules has a case; and what could not be read, in tests/cli."""


def test_table_has_forty_faults_of_all_rules_about_a_cluster() -> None:
    rules = {rule.id.removeprefix("preflight/") for rule in RULES}
    assert rules - {fault.rule for fault in FAULTS} == {*ELSEWHERE, "unchecked"}
    assert len({fault.what for fault in FAULTS}) == len(FAULTS) >= 40
