"""Promises that no cluster of this repository can show, and many jobs on a larger cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.e2e.scheduling import evicted_after_steps
from tests.e2e.setup import CLUSTER, NEW
from tests.e2e.stage import Stage
from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.load import check_load
from trainyard_rehearsal.checks.queueing import check_queueing
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.publication import sample_jobs

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [NEW], indirect=True, ids=[NEW.name]),
]

_FILE = f"clusters/{CLUSTER}.yaml"


def _team(nodes: int, largest: int, **sharing: Any) -> dict[str, Any]:
    return {
        "quota": {CLUSTER: {"dgx-h100": {"nodes": nodes, **sharing}}},
        "largestJob": {"nodes": largest},
    }


_LENDERS = {
    _FILE: {
        "pools": {"dgx-h100": {"nodes": 12, "reserve": 0}},
        "fabrics": {"ib": {"leafNodes": 4}},
    },
    "teams/nlp.yaml": _team(4, 4, borrow=4),
    "teams/science.yaml": {
        "contact": "science-oncall@example.com",
        "groups": {"admin": ["science-leads"], "user": ["science"]},
        "runtimes": ["openmpi-cuda"],
        "cohort": "research",
        **_team(4, 4, lend="all"),
    },
    "teams/vision.yaml": _team(4, 4, lend=2),
    "allocations.yaml": {
        CLUSTER: {"ib": {"science": {"partition": "0x0103", "addresses": "10.64.32.0/20"}}}
    },
}

_USUAL = {
    _FILE: {"pools": {"dgx-h100": {"nodes": 64, "reserve": 0}}},
    "runtimes/openmpi-cuda.yaml": {"maxNodes": 32},
    "teams/nlp.yaml": _team(40, 16, borrow=12),
    "teams/vision.yaml": _team(24, 16, borrow=12),
    "allocations.yaml": {
        CLUSTER: {
            "ib": {"nlp": {"addresses": "10.64.0.0/19"}, "vision": {"addresses": "10.64.32.0/19"}}
        }
    },
}


def _deployed(
    stage: Stage, changes: Mapping[str, Any]
) -> tuple[Lab, list[tuple[Sample, Manifest]]]:
    scene = stage.deploy(changes)
    assert not scene.refused
    settle(scene.lab)
    return scene.lab, sample_jobs(scene.site, scene.manifests, "")


def _teams(samples: list[tuple[Sample, Manifest]]) -> set[str]:
    return {sample.space.team.name for sample, _ in samples}


@pytest.mark.slow
def test_every_promise_is_tried_and_holds(stage: Stage) -> None:
    """There are two lenders, one of which keeps a part of its nodes, and three switches."""
    lab, samples = _deployed(stage, _LENDERS)

    outcomes = list(check_queueing(lab, samples, _teams(samples)))

    assert not [outcome.failures for outcome in outcomes if outcome.failures]
    assert {outcome.promise: outcome.tried for outcome in outcomes} == {
        "job over quota waits": 3,
        "job without nodes shows why": 1,
        "higher priority preempts": 3,
        "job fits between others": 3,
        "owner reclaims lent nodes": 2,
        "lending limit holds": 1,
    }


def test_newer_kueue_readmits_a_job_after_its_steps(stage: Stage) -> None:
    """`scheduling/no-return-after-steps` describes Kueue 0.16, not this version."""
    job = evicted_after_steps(stage)
    assert stage.until(lambda: job.is_admitted), job.waiting_reason


@pytest.mark.slow
def test_fifty_jobs_share_sixty_four_nodes(stage: Stage) -> None:
    """All jobs end, within queues and pools, and none waits while its team has free nodes."""
    lab, samples = _deployed(stage, _USUAL)
    (outcome,) = check_load(lab, samples, _teams(samples))

    assert not outcome.failures, outcome.failures
    assert outcome.held == outcome.tried >= 50
    assert "of 64 dgx-h100" in outcome.remark
