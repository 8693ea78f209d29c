"""Nodes in maintenance on a control plane: nothing waits for a quota that the nodes don't have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.objects import identity_of
from tests.e2e.setup import CLUSTER, NEW, OLD
from tests.e2e.stage import Scene, Stage
from tests.rules.cases import platform_of
from trainyard.render.site import render_site
from trainyard_rehearsal.checks.jobs import Job

pytestmark = pytest.mark.e2e

_FILE = f"clusters/{CLUSTER}.yaml"
_NODES = [f"dgx-h100-{number:03}" for number in range(1, 10)]
"""Names of the simulated nodes."""
_OUT = _NODES[-3:]
_STAGES = pytest.mark.parametrize(
    "stage",
    [NEW, pytest.param(OLD, marks=pytest.mark.slow)],
    indirect=True,
    ids=[NEW.name, OLD.name],
    scope="session",
)


def _changes(names: list[str], **taken: int) -> dict[str, Any]:
    """Return a pool of nine nodes, one in reserve, of which nlp and vision own four each."""
    entry: dict[str, Any] = {"nodes": names, "until": "2026-12-01", "reason": "new cables"}
    entry |= {"from": taken} if taken else {}
    return {_FILE: {"pools": {"dgx-h100": {"maintenance": [entry]}}}}


def _edited(stage: Stage, scene: Scene, changes: dict[str, Any]) -> Scene:
    """Apply the queues of another tree under the jobs; the nodes stay as they are."""
    (site,) = platform_of(stage.setup.with_settings(changes)).sites
    for each in render_site(site):
        if each.body["kind"] == "ClusterQueue":
            stage.api.apply(each.body)
            stage.applied[identity_of(each.body)] = each.body
    return replace(scene, site=site)


def _cordon(stage: Stage, name: str, *, cordoned: bool = True) -> None:
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    stage.api.patch(body, {"spec": {"unschedulable": cordoned}})


def _nodes_of(stage: Stage, job: Job, count: int) -> set[str]:
    """Return the nodes of a job whose pods must all have one."""

    def placed() -> bool:
        return len([pod for pod in job.pods if pod.node]) == count

    assert stage.until(placed), [(pod.name, pod.node) for pod in job.pods]
    return {pod.node for pod in job.pods}


@_STAGES
def test_jobs_that_fit_start_and_larger_ones_wait_for_the_nodes(stage: Stage) -> None:
    """Three nodes are out: one is the reserve, and nlp gives two of its four."""
    scene = stage.deploy(_changes(_OUT, nlp=2))
    assert not scene.refused, scene.refused
    larger = scene.submit("nlp", 4)
    # Of 16 GPUs or of the cores of two nodes: Kueue names any of the resources that lack.
    assert scene.waits(larger, "> maximum capacity (")
    fitting = [scene.submit("nlp", 2), scene.submit("vision", 4)]
    assert scene.runs(*fitting)
    used = [_nodes_of(stage, job, count) for job, count in zip(fitting, (2, 4), strict=True)]
    assert used[0] | used[1] == {*_NODES} - {*_OUT}

    # The nodes come back: their owner uncordons them, and the entry is removed.
    for name in _OUT:
        _cordon(stage, name, cordoned=False)
    fitting[0].delete()
    back = _edited(stage, scene, {})
    assert back.runs(larger)
    assert len(_nodes_of(stage, larger, 4)) == 4


@_STAGES
def test_queues_are_held_while_the_whole_pool_is_out(stage: Stage) -> None:
    scene = stage.deploy(_changes(_NODES))
    job = scene.submit("vision", 2)
    assert scene.waits(job, "ClusterQueue vision-gpu is inactive")

    for name in _NODES:
        _cordon(stage, name, cordoned=False)
    assert _edited(stage, scene, {}).runs(job)


@_STAGES
def test_running_job_leaves_the_node_and_starts_elsewhere(stage: Stage) -> None:
    """The commands of the README: cordon, then have Kueue stop the job and queue it again."""
    scene = stage.deploy({})
    job = scene.submit("nlp", 4)
    assert scene.runs(job)
    before = _nodes_of(stage, job, 4)
    bad = min(before)
    _cordon(stage, bad)
    try:
        _moves_off(stage, _edited(stage, scene, _changes([bad])), job, bad)
    finally:
        _cordon(stage, bad, cordoned=False)


def _moves_off(stage: Stage, scene: Scene, job: Job, bad: str) -> None:
    assert not stage.until(lambda: not job.is_admitted, 3), "a merge stops no job"

    stage.api.patch(job.workload, {"spec": {"active": False}})
    assert stage.until(lambda: not job.is_admitted and not job.pods), job.waiting_reason
    stage.api.patch(job.workload, {"spec": {"active": True}})
    assert scene.runs(job)
    assert bad not in _nodes_of(stage, job, 4)
