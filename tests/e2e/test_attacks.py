"""No sequence of a user's requests breaks a promise to other teams."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from tests.e2e.attacks import ATTACKS, NAMESPACES, SPACES, TAKEN, Request, unknown
from tests.e2e.setup import CLUSTER, NEW, OLD
from tests.e2e.stage import Scene, Stage
from trainyard.model.names import RESERVED_PREFIX
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
"""Seconds for what takes a few, since a busy machine is not a failure."""
_KEPT_BY = ("name", "namespace", "deletionTimestamp", "finalizers", "ownerReferences")
"""Metadata that tell why an object stays."""
_ROOT = "kube-root-ca.crt"
_STILL = 0.4
"""Seconds in which no object may change while no user acts."""


@pytest.mark.parametrize("role", ["user", "admin", "viewer"])
def test_attacks_cover_every_kind_that_a_role_may_write(role: str) -> None:
    assert unknown(role) == set()


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.parametrize(
    "stage", [NEW, OLD], indirect=True, ids=lambda setup: setup.name, scope="session"
)
def test_no_sequence_of_requests_harms_others(stage: Stage, attacks: int, seed: str) -> None:
    """After sequences in all namespaces of a team, quota, nodes and delivery hold."""
    scene = stage.deploy(_PLATFORM)
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
        found = [*_broken_promises(scene), *_undeleted(scene)]
        assert not found, (found, list(zip(NAMESPACES, sequences, answers, strict=True)))

    def sent(sequence: list[Request], namespace: str) -> list[str]:
        return [request.send(scene, namespace) for request in sequence]

    attack()


def _broken_promises(scene: Scene) -> Iterator[str]:
    """Yield each promise that does not hold."""
    stage = scene.stage
    if not stage.until(lambda: not _unadmitted(scene), _PATIENCE):
        yield f"pods without an admitted Workload: {_unadmitted(scene)}"
    changes: list[list[str]] = []

    def is_still() -> bool:
        changes.append(_changing(scene))
        return not changes[-1]

    if not stage.until(is_still, _PATIENCE):
        yield f"controllers change objects while no user acts: {changes[-1]}"
    yield from _misplaced(scene)
    yield from _taken(scene)
    yield from _steering(scene)
    yield from _rewritten(scene)
    owner = scene.submit("vision", 4)
    if not stage.until(lambda: owner.is_admitted, _PATIENCE):
        yield f"another team's job waits within its own quota: {owner.waiting_reason}"
    owner.delete()


def _misplaced(scene: Scene) -> Iterator[str]:
    """Yield pods on nodes of no pool."""
    pools = tuple(f"{pool.name}-" for pool in scene.site.cluster.pools)
    for pod in _theirs(scene, "v1", "Pod"):
        node = pod["spec"].get("nodeName", pools[0])
        if node and not node.startswith(pools):
            yield f"pod {_name(pod)} is on {node}"


def _taken(scene: Scene) -> Iterator[str]:
    """Yield NetworkPolicies that are not the tree's any more, and members' objects of its names."""
    version, kind = "networking.k8s.io/v1", "NetworkPolicy"
    live = {_name(each): each for each in _theirs(scene, version, kind)}
    for manifest in scene.manifests:
        name = f"{manifest.namespace}/{manifest.name}"
        is_theirs = manifest.body["kind"] == kind and manifest.namespace in NAMESPACES
        if is_theirs and live.get(name, {}).get("spec") != manifest.body["spec"]:
            yield f"NetworkPolicy {name} is another: {live.get(name)}"
    for kind, version in {"ConfigMap": "v1", "PersistentVolumeClaim": "v1"}.items():
        for each in _theirs(scene, version, kind):
            if each["metadata"]["name"].startswith(RESERVED_PREFIX):
                yield f"{kind} {_name(each)} has a name of the tree"


def _theirs(scene: Scene, version: str, kind: str) -> list[Body]:
    """Return the objects of a kind in the attackers' namespaces."""
    return [
        each
        for each in scene.api.list(version, kind)
        if each["metadata"]["namespace"] in NAMESPACES
    ]


def _name(body: Body) -> str:
    return f"{body['metadata']['namespace']}/{body['metadata']['name']}"


def _unadmitted(scene: Scene) -> list[str]:
    """Return pods that occupy a node and belong to no job with an admitted Workload."""
    admitted = {
        (each["metadata"]["namespace"], owner["name"])
        for each in _theirs(scene, KUEUE, "Workload")
        if is_true(each, "Admitted")
        for owner in each["metadata"].get("ownerReferences", [])
    }
    return [_name(each) for each in _theirs(scene, "v1", "Pod") if _holds(each, admitted)]


def _holds(pod: Body, admitted: set[tuple[str, str]]) -> bool:
    metadata = pod["metadata"]
    runs = pod["spec"].get("nodeName") and pod["status"].get("phase") not in {"Succeeded", "Failed"}
    ends = "deletionTimestamp" in metadata
    job = (metadata["namespace"], metadata.get("labels", {}).get(JOBSET, ""))
    return bool(runs) and not ends and job not in admitted


def _changing(scene: Scene) -> list[str]:
    """Return the objects that are created, deleted or changed within a moment."""
    before = _generations(scene)
    scene.stage.until(lambda: False, _STILL)
    return sorted(f"{kind} {name}" for kind, name, *_ in before ^ _generations(scene))


def _generations(scene: Scene) -> set[tuple[str, str, str, int]]:
    kinds = {"TrainJob": TRAINER, "JobSet": "jobset.x-k8s.io/v1alpha2", "Pod": "v1"}
    found = set()
    for kind, version in kinds.items():
        for each in _theirs(scene, version, kind):
            metadata = each["metadata"]
            found.add((kind, _name(each), metadata["uid"], metadata.get("generation", 0)))
    return found


def _steering(scene: Scene) -> Iterator[str]:
    """Yield objects that could stop the delivery of the team's unit."""
    kinds = {"ConfigMap": "v1", "PersistentVolumeClaim": "v1", "TrainJob": TRAINER}
    for kind, version in kinds.items():
        for each in _theirs(scene, version, kind):
            metadata = each["metadata"]
            keys = [*metadata.get("annotations", {}), *metadata.get("labels", {})]
            if metadata["name"].startswith("attack") and any(
                key.startswith("argocd.") for key in keys
            ):
                yield f"{kind} {_name(each)} carries {keys}"


def _rewritten(scene: Scene) -> Iterator[str]:
    """Yield certificates of the API server that an attack has replaced or frozen."""
    roots = [
        each for each in _theirs(scene, "v1", "ConfigMap") if each["metadata"]["name"] == _ROOT
    ]
    if len(roots) != len(NAMESPACES):
        yield f"{_ROOT} is missing in {len(NAMESPACES) - len(roots)} namespaces"
    for each in roots:
        if list(each["data"]) != ["ca.crt"] or "immutable" in each:
            yield f"ConfigMap {_name(each)} is another"


def _made(scene: Scene, version: str, kind: str) -> list[Body]:
    """Return the objects of a kind that attacks created, and the tree did not."""
    own = {(each.namespace, each.name) for each in scene.manifests if each.kind.name == kind}
    found = []
    for body in _theirs(scene, version, kind):
        name, namespace = body["metadata"]["name"], body["metadata"]["namespace"]
        is_attack = name.startswith("attack") or name in TAKEN[kind]
        if is_attack and (namespace, name) not in own:
            found.append(body)
    return found


def _undeleted(scene: Scene) -> Iterator[str]:
    """Delete the objects that attacks created; yield those that remain, and remaining pods."""
    stage = scene.stage
    kinds = {"TrainJob": TRAINER, "ConfigMap": "v1", "PersistentVolumeClaim": "v1"}
    for kind, version in kinds.items():
        for each in _made(scene, version, kind):
            stage.delete(version, kind, each["metadata"]["namespace"], each["metadata"]["name"])
    for kind, version in kinds.items():
        made = partial(_made, scene, version, kind)
        if not stage.until(partial(_is_empty, made), _PATIENCE):
            yield f"a {kind} can't be removed: {[_name(each) for each in made()]}"
    yield from _undeleted_pods(scene)


def _is_empty(listed: Callable[[], list[Body]]) -> bool:
    return not listed()


def _undeleted_pods(scene: Scene) -> Iterator[str]:
    jobs = [
        Job(scene.api, "team-vision", each["metadata"]["name"])
        for each in scene.api.list(TRAINER, "TrainJob")
    ]

    def are_gone() -> bool:
        return all(job.is_gone for job in jobs) and not scene.api.list("v1", "Pod")

    if not scene.stage.until(are_gone, _PATIENCE):
        pods = [
            {key: each["metadata"].get(key) for key in _KEPT_BY}
            for each in scene.api.list("v1", "Pod")
        ]
        yield f"pods can't be removed: {pods}"
