"""A change evicts on a control plane exactly those whose jobs a diff says that it may evict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.e2e.objects import identity_of
from tests.e2e.setup import CLUSTER, NEW, OLD, Setup
from tests.e2e.stage import Scene, Stage
from tests.rules.cases import platform_of
from trainyard.change.impact.disruption import disruptions
from trainyard.change.impact.objects import ObjectChange, object_changes
from trainyard.change.impact.reaction import Effect
from trainyard.change.objects import Sides
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import UNLISTED, Manifest
from trainyard.render.site import render_site
from trainyard_rehearsal.checks.acceptance import in_sync_order
from trainyard_rehearsal.checks.jobs import Job

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

Changes = Mapping[str, Any]

_POOL = "dgx-h100"
_NLP, _VISION, _AUDIO = "teams/nlp.yaml", "teams/vision.yaml", "teams/audio.yaml"
_RUNTIME = "runtimes/openmpi-cuda.yaml"
_OTHER_IMAGE = f"registry.example.com/ml/openmpi@sha256:{'b' * 64}"
_NODES = 4
"""Of a job; each has one pod, of which one is the launcher."""
_FILE = f"clusters/{CLUSTER}.yaml"


def _team(nodes: int, **more: int) -> dict[str, Any]:
    """Return a quota, all of which one job may use."""
    largest = {"nodes": nodes + more.get("borrow", 0)}
    return {"quota": {CLUSTER: {_POOL: {"nodes": nodes, **more}}}, "largestJob": largest}


_THIRD: Changes = {
    "allocations.yaml": {
        CLUSTER: {"ib": {"audio": {"partition": "0x0103", "addresses": "10.64.32.0/20"}}}
    },
    _AUDIO: {
        "contact": "somebody@example.com",
        "groups": {"user": ["some"]},
        "runtimes": ["openmpi-cuda"],
        "cohort": "research",
        **_team(2),
    },
}


@dataclass(frozen=True)
class Case:
    """An edit under running jobs.

    Args:
        before, after: changes of the base.
        runs: (team, nodes, priority) of the job that runs.
        wants: the same of a job that is submitted after the edit, or before it where it waits; None
            for no other job.
        waits: whether it is submitted before the edit.
        evicted: teams whose jobs are evicted then.
    """

    before: Changes
    after: Changes
    runs: tuple[str, int, str]
    wants: tuple[str, int, str] | None = None
    waits: bool = False
    evicted: frozenset[str] = frozenset()


CASES = {
    "drained": Case(
        before={},
        after={_NLP: {"state": "draining"}},
        runs=("nlp", 4, "batch"),
        evicted=frozenset({"nlp"}),
    ),
    "quota lowered in a cohort": Case(
        before={_NLP: _team(4), _VISION: _team(4)},
        after={_NLP: _team(2), _VISION: _team(6)},
        runs=("nlp", 4, "batch"),
        wants=("vision", 6, "batch"),
        evicted=frozenset({"nlp"}),
    ),
    "quota lowered without a cohort": Case(
        before={_NLP: {**_team(4), "cohort": None}, _VISION: {**_team(4), "cohort": None}},
        after={_NLP: {**_team(2), "cohort": None}, _VISION: {**_team(6), "cohort": None}},
        runs=("nlp", 4, "batch"),
        wants=("vision", 6, "batch"),
    ),
    "borrowing limit lowered": Case(
        before={_NLP: _team(2, borrow=2), _VISION: _team(6)},
        after={_NLP: _team(2, borrow=0), _VISION: _team(6)},
        runs=("nlp", 4, "batch"),
    ),
    "nodes no longer lent": Case(
        before={**_THIRD, _NLP: _team(4, lend=4), _VISION: _team(2, borrow=4)},
        after={**_THIRD, _NLP: _team(4, lend=0), _VISION: _team(2, borrow=4)},
        runs=("vision", 6, "batch"),
        wants=("audio", 2, "batch"),
        evicted=frozenset({"vision"}),
    ),
    "another cohort": Case(
        before={
            **_THIRD,
            _FILE: {"cohorts": {"research": {}, "other": {}}},
            _NLP: _team(2, borrow=2),
            _VISION: {**_team(4), "cohort": "other"},
        },
        after={
            **_THIRD,
            _FILE: {"cohorts": {"research": {}, "other": {}}},
            _NLP: {**_team(2, borrow=2), "cohort": "other"},
            _VISION: {**_team(4), "cohort": "other"},
        },
        runs=("nlp", 4, "batch"),
        wants=("vision", 4, "batch"),
        evicted=frozenset({"nlp"}),
    ),
    "priority has another value": Case(
        before={},
        after={_FILE: {"priorities": {"batch": 1500, "production": 1000}}},
        runs=("nlp", 4, "production"),
        wants=("nlp", 4, "batch"),
        waits=True,
        evicted=frozenset({"nlp"}),
    ),
}
RUNS: list[tuple[Setup, str]] = [*((NEW, name) for name in CASES), (OLD, "drained")]


@pytest.mark.parametrize(
    # Without the scope each test would start a new control plane.
    ("stage", "name"),
    RUNS,
    indirect=["stage"],
    ids=[f"{name} {setup.name}" for setup, name in RUNS],
    scope="session",
)
def test_change_evicts_whom_it_is_said_to_evict(stage: Stage, name: str) -> None:
    case = CASES[name]
    scene = stage.deploy(case.before)
    assert not scene.refused, scene.refused
    job = _submitted(scene, case.runs)
    assert scene.runs(job)
    if case.wants and case.waits:
        assert scene.waits(_submitted(scene, case.wants))
    edited, said = _edited(stage, scene, case.after)
    if case.wants and not case.waits:
        _submitted(edited, case.wants)

    if case.evicted:
        assert scene.is_evicted(job)
        assert case.evicted <= said
    else:
        assert not stage.until(lambda: not job.is_admitted, 10), job.waiting_reason
        assert said == frozenset()


@pytest.mark.parametrize(
    "stage", [NEW, OLD], indirect=True, ids=[NEW.name, OLD.name], scope="session"
)
def test_edited_image_takes_a_running_job_from_kueue(stage: Stage) -> None:
    """Kueue 0.19 restarts the job with its own image; with 0.16 its pods run on without quota."""
    scene = stage.deploy({})
    job = _submitted(scene, ("nlp", _NODES, "batch"))
    assert scene.runs(job)
    assert stage.until(lambda: len(_running(job)) == _NODES)
    pods, image = _running(job), _images(job)

    _, said = _edited(stage, scene, {_RUNTIME: {"image": _OTHER_IMAGE}})
    stage.api.patch(job.body, {"metadata": {"annotations": {"example.com/changed": "yes"}}})

    assert said == {"nlp", "vision"}, "both list the runtime"
    if stage.setup == NEW:
        assert stage.until(lambda: len(_running(job) - pods) == _NODES)
    else:
        assert stage.until(lambda: not job.workload)
        assert _running(job) == pods
    assert _images(job) == image


def _running(job: Job) -> frozenset[str]:
    """Return the ids of its running pods."""
    return frozenset(each.body["metadata"]["uid"] for each in job.pods if each.phase == "Running")


def _images(job: Job) -> frozenset[str]:
    return frozenset(part["image"] for pod in job.pods for part in pod.body["spec"]["containers"])


def _submitted(scene: Scene, job: tuple[str, int, str]) -> Job:
    team, nodes, priority = job
    return scene.submit(team, nodes, priority_class=priority)


def _edited(stage: Stage, scene: Scene, changes: Changes) -> tuple[Scene, frozenset[str]]:
    """Apply what another tree has, under the running jobs; return the teams that it may evict."""
    platform = platform_of(stage.setup.with_settings(changes))
    (site,) = platform.sites
    manifests = render_site(site)
    both = Sides(site.name, scene.site, site, _objects(scene.manifests), _objects(manifests))
    edits = object_changes(both)
    for each in in_sync_order([both.after[edit.identity] for edit in edits if _is_synced(edit)]):
        stage.api.apply(each.body)
        stage.applied[identity_of(each.body)] = each.body
    of_jobs = {Effect.RECLAIMS, Effect.EVICTS}
    evictions = (each for each in disruptions(both, edits) if each.effect in of_jobs)
    said = frozenset(team for each in evictions for team in each.teams)
    return replace(scene, platform=platform, site=site, manifests=manifests), said


def _objects(manifests: tuple[Manifest, ...]) -> dict[Identity, Manifest]:
    return {identity(each): each for each in manifests}


def _is_synced(edit: ObjectChange) -> bool:
    assert edit.change == "changed", edit
    return edit.unit not in {*UNLISTED, "argocd"}
