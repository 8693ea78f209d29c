"""Held queues on a control plane: running jobs go on, new ones wait, and draining evicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.objects import identity_of
from tests.e2e.setup import FILE, NEW, OLD
from tests.e2e.stage import Scene, Stage
from tests.rules.cases import platform_of
from trainyard.render.site import render_site

pytestmark = pytest.mark.e2e

_STAGES = pytest.mark.parametrize(
    "stage",
    [NEW, pytest.param(OLD, marks=pytest.mark.slow)],
    indirect=True,
    ids=[NEW.name, OLD.name],
    scope="session",
)


def _of_cluster(state: str) -> dict[str, Any]:
    return {FILE: {"state": state}}


def _of_pool(state: str) -> dict[str, Any]:
    return {FILE: {"pools": {"dgx-h100": {"state": state}}}}


def _edited(stage: Stage, scene: Scene, changes: Mapping[str, Any]) -> Scene:
    """Apply the queues of another tree under the jobs."""
    (site,) = platform_of(stage.setup.with_settings(changes)).sites
    for each in render_site(site):
        if each.body["kind"] == "ClusterQueue":
            stage.api.apply(each.body)
            stage.applied[identity_of(each.body)] = each.body
    return replace(scene, site=site)


@_STAGES
@pytest.mark.parametrize("stated", [_of_cluster, _of_pool])
def test_held_queue_keeps_its_jobs_and_starts_none(
    stage: Stage, stated: Callable[[str], dict[str, Any]]
) -> None:
    scene = stage.deploy({})
    assert not scene.refused, scene.refused
    running = scene.submit("nlp", 2)
    assert scene.runs(running)

    held = _edited(stage, scene, stated("held"))
    waiting = held.submit("nlp", 2)
    assert held.waits(waiting, "ClusterQueue nlp-gpu is inactive")
    assert not stage.until(lambda: not running.is_admitted or waiting.is_admitted, 10)

    drained = _edited(stage, held, stated("draining"))
    assert drained.is_evicted(running)
    # Those that were evicted still wait when the queue is only held.
    again = _edited(stage, drained, stated("held"))
    assert not stage.until(lambda: running.is_admitted or waiting.is_admitted, 5)

    assert _edited(stage, again, {}).runs(running, waiting)


@_STAGES
def test_nodes_of_a_held_team_are_lent(stage: Stage) -> None:
    """Only its own jobs wait: what the capacity shows as lent, others may borrow."""
    changes: dict[str, Any] = {
        "teams/nlp.yaml": {"quota": {"prod-east": {"dgx-h100": {"nodes": 4, "lend": 4}}}},
        "teams/vision.yaml": {
            "quota": {"prod-east": {"dgx-h100": {"nodes": 4, "borrow": 2}}},
            "largestJob": {"nodes": 6},
        },
    }
    changes["teams/nlp.yaml"]["state"] = "held"
    scene = stage.deploy(changes)
    assert not scene.refused, scene.refused
    assert scene.runs(scene.submit("vision", 6))
