"""What belongs to others stays theirs: volumes, keys, certificates and claims."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.e2e import volumes
from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Stage
from tests.e2e.volumes import (
    PROJECT,
    VOLUME,
    claim,
    namespace,
    released,
    storage_class,
    there,
    volume,
)
from trainyard.model.names import ADOPTED_CLASS
from trainyard_rehearsal.checks.jobs import as_account, as_user
from trainyard_rehearsal.checks.refusals import FROZEN, OF_OTHERS, STORE, TRAINER_ONLY
from trainyard_rehearsal.checks.variants import with_change
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.refusal import Refused

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize(
        "stage", [NEW, OLD], indirect=True, ids=lambda setup: setup.name, scope="session"
    ),
]

_ROOT = "kube-root-ca.crt"
_RBAC = "rbac.authorization.k8s.io"
_EVERY_PUSH = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "pushsecrets.external-secrets.io"},
    "spec": {
        "group": "external-secrets.io",
        "names": {"kind": "PushSecret", "plural": "pushsecrets"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
"""Stands for the kind of External Secrets, whose fields the policy reads."""


@pytest.mark.parametrize(
    ("page", "volume", "name"),
    [
        ("rename-a-team.md", "pvc-0b6f3c52-5f0e-4c59-9d55-2a7f7a7f3f11", "imagenet"),
        ("adopt-a-volume.md", "pvc-7c1e2a90-41d3-4b0e-8f55-90b1d0f4a6c2", "archive"),
    ],
)
def test_documented_patch_gives_a_volume_to_its_claim_alone(
    stage: Stage, page: str, volume: str, name: str
) -> None:
    """Whoever waits for it, by its name or by its class, and however often it is tried."""
    *_, hand_over = commands = volumes.patches(page)
    place = "team-perception" if page.startswith("rename") else "team-vision"
    own = "e2e-new-team"
    storage_class = "cephfs" if place == "team-perception" else ADOPTED_CLASS
    assert all(volume in command for command in commands)
    assert "claimRef" in hand_over[-1]
    with there(stage, namespace(PROJECT), namespace(own)):
        for _ in range(3):
            waiting = [
                claim(PROJECT, "lucky", "cephfs"),
                claim(PROJECT, "grab", "cephfs", volumeName=VOLUME),
                claim(own, name, storage_class, volumeName=VOLUME),
            ]
            with there(stage, released("cephfs"), *waiting):
                for command in commands:
                    words = (each.replace(place, own).replace(volume, VOLUME) for each in command)
                    volumes.run(stage, list(words))
                assert stage.until(lambda: volumes.bound_to(stage) == (own, name))
                found = stage.api.list("v1", "PersistentVolumeClaim", PROJECT)
                assert [each["status"]["phase"] for each in found] == ["Pending", "Pending"]


def test_member_replaces_no_certificate(stage: Stage) -> None:
    """Kubernetes restores what an administrator changes; a frozen one it can't."""
    scene = stage.deploy({})
    user = as_user(scene.api, scene.space("team-nlp"))
    root = _config_map(_ROOT)
    # A dry run: until the API server enforces the policy, the change would last.
    frozen = {"immutable": True}
    assert stage.until(lambda: OF_OTHERS in _refusal(user.patch, root, frozen, dry_run=True))
    assert OF_OTHERS in _refusal(user.patch, root, {"data": {"ca.crt": "mine"}})
    assert OF_OTHERS in _refusal(user.delete, root)

    before = scene.api.get("v1", "ConfigMap", _ROOT, "team-nlp")["data"]
    scene.api.patch(root, {"data": {"ca.crt": "other"}})
    assert stage.until(
        lambda: scene.api.get("v1", "ConfigMap", _ROOT, "team-nlp")["data"] == before
    )


def test_member_freezes_nothing_that_is_there(stage: Stage) -> None:
    """A ConfigMap of one's own is immutable from its creation on, or never."""
    scene = stage.deploy({})
    user = as_user(scene.api, scene.space("team-nlp"))
    own = _config_map("own")
    with there(stage, own):
        frozen = {"immutable": True}
        assert stage.until(lambda: FROZEN in _refusal(user.patch, own, frozen, dry_run=True))
        assert _refusal(user.patch, own, {"data": {"a": "b"}}) == ""
        assert _refusal(user.delete, own) == ""
    assert _refusal(user.create, {**_config_map("new"), "immutable": True}) == ""
    stage.delete("v1", "ConfigMap", "team-nlp", "new")


def test_claim_without_a_class_gets_none_of_an_adopted_volume(stage: Stage) -> None:
    """Where no class is the default, Kubernetes lets a claim that is there name one once."""
    stage.deploy({})
    runner = as_account(stage.api, f"system:serviceaccount:{PROJECT}:e2e-runner")
    late = claim(PROJECT, "late", None)
    with there(stage, namespace(PROJECT), *_runner(PROJECT), late):
        change = {"spec": {"storageClassName": ADOPTED_CLASS}}
        assert stage.until(
            lambda: ADOPTED_CLASS in _refusal(runner.patch, late, change, dry_run=True)
        )
        assert _refusal(runner.patch, late, {"spec": {"storageClassName": "own"}}) == ""


def test_migration_of_what_is_stored_passes(stage: Stage) -> None:
    """It writes each object back, those of Trainer too; with other data nobody may."""
    scene = stage.deploy({})
    job = scene.submit("nlp", 2)
    assert scene.runs(job)
    hosts = f"{job.name}-mpi-hostfile"
    assert stage.until(lambda: any(pod.phase == "Running" for pod in job.pods))
    body = stage.api.get("v1", "ConfigMap", hosts, "team-nlp")
    assert _refusal(stage.api.update, body) == ""
    assert _refusal(stage.api.patch, body, {"metadata": {"labels": {"a": "b"}}}) == ""
    assert TRAINER_ONLY in _refusal(stage.api.patch, body, {"data": {"hostfile": "other"}})


def test_members_leave_room_for_the_config_maps_of_jobs(stage: Stage) -> None:
    """Trainer writes one for each MPI job; without it an admitted job would hold its nodes."""
    scene = stage.deploy({})
    user = as_user(scene.api, scene.space("team-nlp"))
    own = (_config_map(f"own-{number}") for number in count())
    words, made = "", 0
    assert stage.until(lambda: _is_counted(stage))
    try:
        while not words and made < 400:
            words = _refusal(user.create, next(own))
            made += 1
        assert "configmaps, and members may make new ones below 300" in words
        assert 250 < made <= 310

        job = scene.submit("nlp", 2)
        assert scene.runs(job)
        assert stage.until(lambda: any(pod.phase == "Running" for pod in job.pods))
    finally:
        for number in range(made):
            stage.delete("v1", "ConfigMap", "team-nlp", f"own-{number}")


def test_members_leave_room_for_claims_of_the_tree_that_grow(stage: Stage) -> None:
    """The quota has that room: it would refuse Argo CD's dry run of a larger claim."""
    scene = stage.deploy({"teams/nlp.yaml": {"claims": {"scratch": "1Ti"}}})
    (name,) = scene.space("team-nlp").claimable_classes
    runner = as_account(scene.api, "system:serviceaccount:team-nlp:e2e-runner")
    own = with_change(claim("team-nlp", "own", name), _of_size("1Ti"))
    more = claim("team-nlp", "more", name)
    there_for_own = volume(name, claimRef={"namespace": "team-nlp", "name": "own"})
    too_much = "claims of the namespace may have in sum"
    with there(stage, storage_class(name), there_for_own, *_runner()):
        try:
            assert stage.until(lambda: _refusal(runner.create, more, dry_run=True) == "")
            assert _refusal(runner.create, own) == ""
            assert stage.until(lambda: too_much in _refusal(runner.create, more, dry_run=True))
            larger = _of_size("2Ti")
            assert stage.until(
                lambda: too_much in _refusal(runner.patch, own, larger, dry_run=True)
            )
            assert _refusal(scene.api.patch, own, _of_size("100Ti"), dry_run=True) == ""
        finally:
            stage.delete("v1", "PersistentVolumeClaim", "team-nlp", "own")


def test_members_leave_room_for_the_claims_of_the_delivery(stage: Stage) -> None:
    """A claim that can't be made fails the whole sync, so that a withdrawn role stays."""
    scene = stage.deploy({"teams/nlp.yaml": {"claims": {"scratch": "1Ti"}}})
    (name,) = scene.space("team-nlp").claimable_classes
    runner = as_account(scene.api, "system:serviceaccount:team-nlp:e2e-runner")
    own = [claim("team-nlp", f"own-{number}", name) for number in range(200)]
    words, made = "", 0
    try:
        with there(stage, *_runner()):
            assert stage.until(lambda: _refusal(runner.create, own[0], dry_run=True) == "")
            while not words and made < len(own) - 1:
                words = _refusal(runner.create, own[made])
                made += 1
        assert "persistentvolumeclaims, and members may make new ones below 50" in words
        assert _refusal(scene.api.create, own[made]) == ""
    finally:
        for each in own[: made + 1]:
            stage.delete("v1", "PersistentVolumeClaim", "team-nlp", each["metadata"]["name"])


def test_waiting_claim_chooses_no_volume_later(stage: Stage) -> None:
    """Kubernetes lets a claim without a volume name one once; the binder does."""
    scene = stage.deploy({"teams/nlp.yaml": {"claims": {"scratch": "1Ti"}}})
    (name,) = scene.space("team-nlp").claimable_classes
    runner = as_account(scene.api, "system:serviceaccount:team-nlp:e2e-runner")
    waits = claim("team-nlp", "waits", name)
    with there(stage, waits, *_runner()):

        def refused() -> bool:
            words = _refusal(runner.patch, waits, {"spec": {"volumeName": VOLUME}})
            return "a claim must not choose its volume" in words

        assert stage.until(refused)


@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        ({"secretStoreRefs": [{"kind": "ClusterSecretStore", "name": "vault"}]}, True),
        ({"secretStoreRefs": [{"kind": "ClusterSecretStore", "labelSelector": {}}]}, True),
        ({"dataTo": [{"storeRef": {"kind": "ClusterSecretStore", "name": "vault"}}]}, True),
        ({"secretStoreRefs": [{"kind": "SecretStore", "labelSelector": {}}]}, False),
        ({"secretStoreRefs": [{"kind": "ClusterSecretStore", "name": "other"}]}, False),
        ({"secretStoreRefs": [{"name": "vault"}]}, False),
    ],
)
def test_project_pushes_into_no_store_of_the_platform(
    stage: Stage, spec: dict[str, Any], refused: bool
) -> None:
    """A PushSecret names stores, or selects them by their labels."""
    scene = stage.deploy({})
    user = as_account(scene.api, f"system:serviceaccount:{PROJECT}:e2e-runner")
    push = {
        "apiVersion": "external-secrets.io/v1alpha1",
        "kind": "PushSecret",
        "metadata": {"name": "x", "namespace": PROJECT},
        "spec": spec,
    }
    with there(stage, _EVERY_PUSH, namespace(PROJECT), *_runner(PROJECT)):

        def is_judged() -> bool:
            words = _refusal(user.create, push, dry_run=True)
            return STORE in words if refused else words == ""

        assert stage.until(is_judged)


def _config_map(name: str) -> Body:
    metadata = {"name": name, "namespace": "team-nlp"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def _is_counted(stage: Stage) -> bool:
    """Return whether the quota counts already; nothing is refused before."""
    quota = stage.api.get("v1", "ResourceQuota", "object-counts", "team-nlp")
    return bool((quota.get("status") or {}).get("used"))


def _of_size(size: str) -> Body:
    return {"spec": {"resources": {"requests": {"storage": size}}}}


def _runner(place: str = "team-nlp") -> tuple[Body, Body]:
    """Return the role of an account that may write claims, and its binding."""
    metadata = {"name": "e2e-runner", "namespace": place}
    rules = [
        {"apiGroups": [""], "resources": ["persistentvolumeclaims"], "verbs": ["*"]},
        {"apiGroups": ["external-secrets.io"], "resources": ["*"], "verbs": ["*"]},
    ]
    version = f"{_RBAC}/v1"
    role = {"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": rules}
    binding = {
        "apiVersion": version,
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": "e2e-runner"},
        "subjects": [{"kind": "ServiceAccount", "name": "e2e-runner", "namespace": place}],
    }
    return role, binding


def _refusal(request: Callable[..., object], *arguments: object, **options: object) -> str:
    """Send a request; return why it is refused, nothing if it is not."""
    try:
        request(*arguments, **options)
    except Refused as refused:
        return str(refused)
    return ""
