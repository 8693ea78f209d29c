"""No sequence of a user's requests breaks what the platform promises to the others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from tests.e2e.attacks import ATTACKS, NAMESPACES, SPACES, Request, unknown
from tests.e2e.stage import CLUSTER, NEW, OLD, Scene, Stage
from trainyard_rehearsal.checks.jobs import JOBSET, KUEUE, TRAINER, Job, is_true
from trainyard_rehearsal.control_plane.api import Body

_PLATFORM: dict[str, Any] = {
    f"clusters/{CLUSTER}.yaml": {"pools": {"dgx-h100": {"nodes": 17}}},
    "teams/nlp.yaml": {
        "quota": {CLUSTER: {"dgx-h100": {"nodes": 12, "borrow": 4}}},
        "claims": {"scratch": "1Ti"},
        "spaces": {space: {"claims": {"scratch": "1Ti"}} for space in SPACES},
    },
    "teams/vision.yaml": {"quota": {CLUSTER: {"dgx-h100": {"nodes": 4, "lend": "all"}}}},
}
_PATIENCE = 120.0
"""Seconds for what takes a few: a busy machine is no failure."""
_STILL = 0.4
"""Seconds in which nothing may change while nobody acts."""


@pytest.mark.parametrize("role", ["user", "admin", "viewer"])
def test_attacks_know_every_kind(role: str) -> None:
    """A role that may write a further kind is attacked with it too."""
    assert unknown(role) == set()


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.parametrize(
    "ground", [NEW, OLD], indirect=True, ids=lambda ground: ground.name, scope="session"
)
def test_no_sequence_of_requests_harms_others(ground: Stage, attacks: int, seed: str) -> None:
    """Sequences run in all namespaces of a team at once; then quota, nodes and delivery are as
    promised."""
    scene = ground.stand(_PLATFORM)
    assert not scene.refused

    @seeded(seed)
    @settings(
        max_examples=math.ceil(attacks / len(NAMESPACES)),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(ATTACKS)
    def attack(sequences: list[list[Request]]) -> None:
        with ThreadPoolExecutor(len(NAMESPACES)) as pool:
            answers = list(pool.map(sent, sequences, NAMESPACES))
        found = [*_harm(scene), *_left(scene)]
        assert not found, (found, list(zip(NAMESPACES, sequences, answers, strict=True)))

    def sent(sequence: list[Request], namespace: str) -> list[str]:
        return [request.send(scene, namespace) for request in sequence]

    attack()


def _harm(scene: Scene) -> Iterator[str]:
    """Yield each promise that does not hold."""
    stage = scene.stage
    if not stage.until(lambda: not _unadmitted(scene), _PATIENCE):
        yield f"pods without an admitted Workload: {_unadmitted(scene)}"
    moves: list[list[str]] = []

    def is_still() -> bool:
        moves.append(_moving(scene))
        return not moves[-1]

    if not stage.until(is_still, _PATIENCE):
        yield f"controllers go on while nobody acts: {moves[-1]}"
    pools = tuple(f"{pool.name}-" for pool in scene.site.cluster.pools)
    pods = _theirs(scene, "v1", "Pod")
    yield from (
        f"pod {_told(each)} is on {node}"
        for each in pods
        if (node := each["spec"].get("nodeName", pools[0])) and not node.startswith(pools)
    )
    yield from _steering(scene)
    owner = scene.submit("vision", 4)
    if not stage.until(lambda: owner.is_admitted, _PATIENCE):
        yield f"another team's job waits within its own quota: {owner.waits_because}"
    owner.delete()


def _theirs(scene: Scene, version: str, kind: str) -> list[Body]:
    """Return the objects of a kind in the attackers' namespaces."""
    return [
        each
        for each in scene.api.list(version, kind)
        if each["metadata"]["namespace"] in NAMESPACES
    ]


def _told(body: Body) -> str:
    return f"{body['metadata']['namespace']}/{body['metadata']['name']}"


def _unadmitted(scene: Scene) -> list[str]:
    """Return pods that hold a node and belong to no job with an admitted Workload."""
    admitted = {
        (each["metadata"]["namespace"], owner["name"])
        for each in _theirs(scene, KUEUE, "Workload")
        if is_true(each, "Admitted")
        for owner in each["metadata"].get("ownerReferences", [])
    }
    return [_told(each) for each in _theirs(scene, "v1", "Pod") if _holds(each, admitted)]


def _holds(pod: Body, admitted: set[tuple[str, str]]) -> bool:
    metadata = pod["metadata"]
    runs = pod["spec"].get("nodeName") and pod["status"].get("phase") not in {"Succeeded", "Failed"}
    ends = "deletionTimestamp" in metadata
    job = (metadata["namespace"], metadata.get("labels", {}).get(JOBSET, ""))
    return bool(runs) and not ends and job not in admitted


def _moving(scene: Scene) -> list[str]:
    """Return what comes, goes or changes in a moment."""
    before = _generations(scene)
    scene.stage.until(lambda: False, _STILL)
    return sorted(f"{kind} {told}" for kind, told, *_ in before ^ _generations(scene))


def _generations(scene: Scene) -> set[tuple[str, str, str, int]]:
    kinds = {"TrainJob": TRAINER, "JobSet": "jobset.x-k8s.io/v1alpha2", "Pod": "v1"}
    found = (
        (kind, each) for kind, version in kinds.items() for each in _theirs(scene, version, kind)
    )
    return {
        (kind, _told(each), each["metadata"]["uid"], each["metadata"].get("generation", 0))
        for kind, each in found
    }


def _steering(scene: Scene) -> Iterator[str]:
    """Yield objects with which a sequence could stop the delivery of the team's unit."""
    kinds = {"ConfigMap": "v1", "PersistentVolumeClaim": "v1", "TrainJob": TRAINER}
    for kind, version in kinds.items():
        for each in _theirs(scene, version, kind):
            metadata = each["metadata"]
            keys = [*metadata.get("annotations", {}), *metadata.get("labels", {})]
            if metadata["name"].startswith("attack") and any(
                key.startswith("argocd.") for key in keys
            ):
                yield f"{kind} {_told(each)} carries {keys}"


def _left(scene: Scene) -> Iterator[str]:
    """Remove what the sequence has made, and yield what does not go."""
    stage, kinds = (
        scene.stage,
        {"TrainJob": TRAINER, "ConfigMap": "v1", "PersistentVolumeClaim": "v1"},
    )

    def made(kind: str, version: str) -> list[Body]:
        return [
            each
            for each in _theirs(scene, version, kind)
            if each["metadata"]["name"].startswith("attack")
        ]

    for kind, version in kinds.items():
        for each in made(kind, version):
            stage.delete(version, kind, each["metadata"]["namespace"], each["metadata"]["name"])
    for kind, version in kinds.items():
        if not stage.until(lambda kind=kind, version=version: not made(kind, version), _PATIENCE):  # type: ignore[misc]
            yield f"a {kind} can't be removed: {[_told(each) for each in made(kind, version)]}"
    jobs = [
        Job(scene.api, "team-vision", each["metadata"]["name"])
        for each in scene.api.list(TRAINER, "TrainJob")
    ]
    if not stage.until(
        lambda: all(job.is_gone for job in jobs) and not scene.api.list("v1", "Pod"), _PATIENCE
    ):
        yield f"pods can't be removed: {[_told(each) for each in scene.api.list('v1', 'Pod')]}"
