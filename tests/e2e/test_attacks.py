"""No sequence of a user's requests breaks what the platform promises to the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from generator.rehearse.api import Body
from generator.rehearse.jobs import JOBSET, KUEUE, TRAINER, Job, is_true
from tests.e2e.attacks import NAMESPACE, SEQUENCES, Request, unknown
from tests.e2e.stage import CLUSTER, NEW, OLD, Scene, Stage

_PLATFORM: dict[str, Any] = {
    "teams/nlp.yaml": {"quota": {CLUSTER: {"dgx-h100": {"nodes": 4, "borrow": 4}}}, "claims": {"scratch": "1Ti"}},
    "teams/vision.yaml": {"quota": {CLUSTER: {"dgx-h100": {"nodes": 4, "lend": "all"}}}},
}
_PATIENCE = 20.0
_STILL = 0.4
"""Seconds in which nothing may change while nobody acts."""


@pytest.mark.parametrize("role", ["user", "admin", "viewer"])
def test_attacks_know_every_kind(role: str) -> None:
    """A role that may write a further kind is attacked with it too."""
    assert unknown(role) == set()


@pytest.mark.e2e
@pytest.mark.parametrize("ground", [NEW, OLD], indirect=True, ids=lambda ground: ground.name, scope="session")
def test_no_sequence_of_requests_harms_others(ground: Stage, attacks: int, seed: str) -> None:
    """After each sequence quota, nodes and delivery are as promised, and all of it can be removed."""
    scene = ground.stand(_PLATFORM)
    assert not scene.refused

    @seeded(seed)
    @settings(
        max_examples=attacks,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(SEQUENCES)
    def attack(sequence: list[Request]) -> None:
        answers = [request.send(scene) for request in sequence]
        found = [*_harm(scene), *_left(scene)]
        assert not found, (found, list(zip(sequence, answers, strict=True)))

    attack()


def _harm(scene: Scene) -> Iterator[str]:
    """Yield each promise that does not hold."""
    stage = scene.stage
    if not stage.until(lambda: not _unadmitted(scene), _PATIENCE):
        yield f"pods without an admitted Workload: {_unadmitted(scene)}"
    if not stage.until(lambda: _is_still(scene), _PATIENCE):
        yield "controllers go on while nobody acts"
    pools = tuple(f"{pool.name}-" for pool in scene.site.cluster.pools)
    pods = scene.api.list("v1", "Pod", NAMESPACE)
    yield from (
        f"pod {each['metadata']['name']} is on {node}"
        for each in pods
        if (node := each["spec"].get("nodeName", pools[0])) and not node.startswith(pools)
    )
    yield from _steering(scene)
    owner = scene.submit("vision", 4)
    if not stage.until(lambda: owner.is_admitted, _PATIENCE):
        yield f"another team's job waits within its own quota: {owner.waits_because}"
    owner.delete()


def _unadmitted(scene: Scene) -> list[str]:
    """Return pods that hold a node and belong to no job with an admitted Workload."""
    admitted = {
        owner["name"]
        for each in scene.api.list(KUEUE, "Workload", NAMESPACE)
        if is_true(each, "Admitted")
        for owner in each["metadata"].get("ownerReferences", [])
    }
    return [each["metadata"]["name"] for each in scene.api.list("v1", "Pod", NAMESPACE) if _holds(each, admitted)]


def _holds(pod: Body, admitted: set[str]) -> bool:
    metadata = pod["metadata"]
    runs = pod["spec"].get("nodeName") and pod["status"].get("phase") not in {"Succeeded", "Failed"}
    ends = "deletionTimestamp" in metadata
    return bool(runs) and not ends and metadata.get("labels", {}).get(JOBSET) not in admitted


def _is_still(scene: Scene) -> bool:
    before = _generations(scene)
    scene.stage.until(lambda: False, _STILL)
    return _generations(scene) == before


def _generations(scene: Scene) -> dict[str, int]:
    kinds = {"TrainJob": TRAINER, "JobSet": "jobset.x-k8s.io/v1alpha2", "Pod": "v1"}
    found = (each["metadata"] for kind, version in kinds.items() for each in scene.api.list(version, kind, NAMESPACE))
    return {each["uid"]: each.get("generation", 0) for each in found}


def _steering(scene: Scene) -> Iterator[str]:
    """Yield objects with which a sequence could stop the delivery of the team's unit."""
    kinds = {"ConfigMap": "v1", "PersistentVolumeClaim": "v1", "TrainJob": TRAINER}
    for kind, version in kinds.items():
        for each in scene.api.list(version, kind, NAMESPACE):
            metadata = each["metadata"]
            keys = [*metadata.get("annotations", {}), *metadata.get("labels", {})]
            if metadata["name"].startswith("attack") and any(key.startswith("argocd.") for key in keys):
                yield f"{kind} {metadata['name']} carries {keys}"


def _left(scene: Scene) -> Iterator[str]:
    """Remove what the sequence has made, and yield what does not go."""
    stage, kinds = scene.stage, {"TrainJob": TRAINER, "ConfigMap": "v1", "PersistentVolumeClaim": "v1"}

    def made(kind: str, version: str) -> list[Body]:
        found = scene.api.list(version, kind, NAMESPACE)
        return [each for each in found if each["metadata"]["name"].startswith("attack")]

    for kind, version in kinds.items():
        for each in made(kind, version):
            stage.delete(version, kind, NAMESPACE, each["metadata"]["name"])
    for kind, version in kinds.items():
        if not stage.until(lambda kind=kind, version=version: not made(kind, version), _PATIENCE):  # type: ignore[misc]
            yield f"a {kind} can't be removed: {made(kind, version)}"
    jobs = [Job(scene.api, "team-vision", each["metadata"]["name"]) for each in scene.api.list(TRAINER, "TrainJob")]
    if not stage.until(lambda: all(job.is_gone for job in jobs) and not scene.api.list("v1", "Pod"), _PATIENCE):
        yield f"pods can't be removed: {[each['metadata']['name'] for each in scene.api.list('v1', 'Pod')]}"
