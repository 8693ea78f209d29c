"""Check that members of a team can't write metadata or values that misdirect a controller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.space import Space
from trainyard_rehearsal.checks.access_requests import claim_spec, config_map
from trainyard_rehearsal.checks.account_objects import owners
from trainyard_rehearsal.checks.forbidden_metadata import FORBIDDEN_METADATA
from trainyard_rehearsal.checks.hostile_sizes import MANY_LABELS
from trainyard_rehearsal.checks.jobs import TRAINER, as_account, as_user
from trainyard_rehearsal.checks.objects_of_others import (
    harmless_to_others,
    hostile_to_others,
    objects_of_others,
)
from trainyard_rehearsal.checks.refusals import (
    FINALIZER,
    NO_CLAIMS,
    OBJECT_TOO_LARGE,
    TRAINER_ONLY,
)
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally
from trainyard_rehearsal.checks.variants import as_json, with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

_ANOTHER_CLASS = "spec.storageClassName must be"
_CLASS = f"{_ANOTHER_CLASS} one of"
_VOLUME = "a claim must not choose its volume"
_NAME = "only the platform's delivery gives the name"
_SUM = "claims of the namespace may have in sum"

_NO_COPY = "a team's own runtime is a copy of one of these"
_DIFFERS = "spec must be that of ClusterTrainingRuntime"
_CONTAINERS = "except image, and env without ["
_SHELL = "is none of a job's launcher or nodes"
_OTHER_PODS = (
    "workbench-0",
    "workbench-node-0-0-0",
    "workbench-node-0-0-0bcdf",
    "rehearsal-dataset-initializer-0-0-bcdfg",
    "node-0-0-bcdfg",
    "pipeline-node-0-1234567890",
)

_CLAIM_MAKERS = tuple(
    f"system:serviceaccount:kube-system:{name}"
    for name in ("ephemeral-volume-controller", "statefulset-controller")
)
_UNOWNED = tuple(each for each in FORBIDDEN_METADATA if "ownerReferences" not in each[0])
"""Metadata that these controllers may not write either: they own what they make."""

_CLAIMS: tuple[tuple[Body, str], ...] = (
    ({"spec": {"storageClassName": None}}, _CLASS),
    ({"spec": {"storageClassName": ""}}, _CLASS),
    ({"spec": {"storageClassName": "of-nobody"}}, _CLASS),
    ({"metadata": {"name": f"{names.RESERVED_PREFIX}x"}}, _NAME),
)
_CLAIMS_OF_A_CLASS: tuple[tuple[Body, str], ...] = (
    ({"spec": {"volumeName": "of-another-team"}}, _VOLUME),
    ({"spec": {"volumeAttributesClassName": "fast"}}, "volumeAttributesClassName can't be set"),
    ({"spec": {"selector": {}}}, _VOLUME),
    ({"spec": {"selector": {"matchLabels": {"team": "another"}}}}, _VOLUME),
    (
        {"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "of-nobody"}}},
        _CLASS,
    ),
    ({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": ""}}}, _CLASS),
    ({"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}, _VOLUME),
    ({"metadata": {"annotations": {"trident.netapp.io/importOriginalName": "home"}}}, _VOLUME),
    ({"spec": {"resources": {"requests": {"storage": "900Pi"}}}}, _SUM),
)


def check_tenant_objects(lab: Lab, spaces: Sequence[Space]) -> Iterator[Outcome]:
    """Send hostile ConfigMaps and claims as a member of each namespace, and harmless ones.

    Args:
        lab: with the tree applied.
        spaces: namespaces whose members send them.
    """
    hostile, harmless = RequestTally(), RequestTally()
    for space in spaces:
        hostile.send(_hostile_config_maps(lab, space))
        hostile.send(_hostile_claims(lab, space))
        hostile.send(_hostile_shells(lab, space))
        hostile.send(_hostile_runtimes(lab, space))
        harmless.send(_harmless(lab, space))
        with objects_of_others(lab, space):
            hostile.send(hostile_to_others(lab, space))
            harmless.send(harmless_to_others(lab, space))
    yield hostile.outcome("hostile objects refused")
    yield harmless.outcome("members' own objects accepted")


def _hostile_config_maps(lab: Lab, space: Space) -> Iterator[RequestCase]:
    """Yield new ConfigMaps, and changes to an existing one: the namespace's root certificates."""
    user, at, plain = as_user(lab.api, space), space.team.at, config_map(space)
    existing = config_map(space, "kube-root-ca.crt")
    for metadata, refusal in FORBIDDEN_METADATA:
        change = {"metadata": metadata}
        yield _create(user, with_change(plain, change), refusal, at)
        patch = partial(user.patch, existing, change, dry_run=True)
        yield RequestCase(f"{space.namespace}: {as_json(change)}", patch, at, refusal)
    held = {"metadata": {"finalizers": ["kubernetes.io/pvc-protection"]}}
    yield _create(user, with_change(plain, held), FINALIZER, at)
    for ending in space.cluster.release.reserved_config_maps:
        yield _create(user, config_map(space, f"job{ending}"), TRAINER_ONLY, at)
    text = {"a": "x" * 200_000, "b": "x" * 100_000}
    yield _create(user, {**plain, "data": text}, OBJECT_TOO_LARGE, at)
    yield _create(user, {**plain, "binaryData": {"a": "AAAA" * 90_000}}, OBJECT_TOO_LARGE, at)
    yield _create(user, with_change(plain, {"metadata": MANY_LABELS}), OBJECT_TOO_LARGE, at)


def _hostile_claims(lab: Lab, space: Space) -> Iterator[RequestCase]:
    """Yield claims of an admin, and those that Kubernetes makes from a template of anybody's."""
    for name in _CLAIM_MAKERS:
        yield from _claims_of(as_account(lab.api, name), space, _UNOWNED)
    if space.team.groups.get("admin"):
        yield from _claims_of(as_user(lab.api, space, "admin"), space, FORBIDDEN_METADATA)


def _claims_of(
    maker: Api, space: Space, forbidden: Sequence[tuple[Body, str]]
) -> Iterator[RequestCase]:
    at = space.team.at
    for change, refusal in _CLAIMS:
        answer = refusal if space.claimable_classes else NO_CLAIMS
        yield _create(maker, with_change(_claim(space, ""), change), answer, at)
    # Two policies say so, and either may answer.
    answer = _ANOTHER_CLASS if space.claimable_classes else NO_CLAIMS
    yield _create(maker, _claim(space, names.ADOPTED_CLASS), answer, at)
    for name in space.claimable_classes:
        claim = _claim(space, name)
        large = with_change(claim, {"metadata": MANY_LABELS})
        yield _create(maker, large, OBJECT_TOO_LARGE, at)
        for change, refusal in _CLAIMS_OF_A_CLASS:
            yield _create(maker, with_change(claim, change), refusal, at)
        for metadata, refusal in forbidden:
            yield _create(maker, with_change(claim, {"metadata": metadata}), refusal, at)


def _hostile_shells(lab: Lab, space: Space) -> Iterator[RequestCase]:
    """Yield commands of a debugger in pods that are none of a job's launcher or nodes."""
    if not (debuggers := space.team.debuggers):
        return
    group = debuggers.groups[0]
    user = lab.api.acting(f"somebody@{group}", [group, "system:authenticated"])
    for name in _OTHER_PODS:
        metadata = {"name": name, "namespace": space.namespace}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
        # A command has no dry run; its pod does not exist.
        request = partial(user.create, body, "exec")
        yield RequestCase(f"a shell in {name}", request, debuggers.at, _SHELL)


def _hostile_runtimes(lab: Lab, space: Space) -> Iterator[RequestCase]:
    """Yield runtimes of an admin that are not copies of one of the team's."""
    if not (space.team.own_runtimes and space.team.groups.get("admin")):
        return
    admin = as_user(lab.api, space, "admin")
    if space.launches:
        launch = space.launches[0]
        base = lab.api.get(TRAINER, "ClusterTrainingRuntime", launch.name)
        label = f"{space.cluster.settings.domain}/copy-of"
        copied = {
            "apiVersion": TRAINER,
            "kind": "TrainingRuntime",
            "metadata": {
                "name": f"{launch.name}.rehearsal",
                "namespace": space.namespace,
                "labels": {**base["metadata"]["labels"], label: launch.name},
            },
            "spec": base["spec"],
        }
        for change in ({"name": "rehearsal"}, {"labels": {label: None}}):
            body = with_change(copied, {"metadata": change})
            yield _create(admin, body, _NO_COPY, space.team.at)
        large = with_change(copied, {"metadata": MANY_LABELS})
        yield _create(admin, large, OBJECT_TOO_LARGE, space.team.at)
        escaped = with_change(copied, {"metadata": {"annotations": {"a": "<" * 40_000}}})
        yield _create(admin, escaped, OBJECT_TOO_LARGE, space.team.at)
        spec = {"mlPolicy": {"numNodes": 2}}
        yield _create(admin, with_change(copied, {"spec": spec}), _DIFFERS, space.team.at)
        yield _create(admin, _naming_gpus(copied), _CONTAINERS, space.team.at)


def _naming_gpus(runtime: Body) -> Body:
    """Return a runtime whose last job names the GPUs that a container runtime gives it."""
    body = deepcopy(runtime)
    job = body["spec"]["template"]["spec"]["replicatedJobs"][-1]
    container = job["template"]["spec"]["template"]["spec"]["containers"][0]
    container["env"].append({"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"})
    return body


def _harmless(lab: Lab, space: Space) -> Iterator[RequestCase]:
    user, at = as_user(lab.api, space), space.team.at
    for script in ("x" * 200_000, 'print("\t")\n' * 20_000):
        yield _create(user, {**config_map(space), "data": {"script": script}}, "", at)
    for maker in _CLAIM_MAKERS:
        for name in space.claimable_classes:
            yield _create(
                as_account(lab.api, maker),
                with_change(_claim(space, name), {"metadata": owners("v1", "Pod")}),
                "",
                at,
            )
    if space.team.groups.get("admin"):
        admin = as_user(lab.api, space, "admin")
        for name in space.claimable_classes:
            yield _create(admin, _claim(space, name), "", at)
            kept = {"metadata": {"annotations": {"helm.sh/resource-policy": "keep"}}}
            yield _create(admin, with_change(_claim(space, name), kept), "", at)


def _create(api: Api, body: Body, refusal: str, at: Pointer) -> RequestCase:
    fields = {key: value for key, value in body.items() if key in {"metadata", "spec"}}
    display = f"{body['kind']} {as_json(fields)}"[:200]
    return RequestCase(display, partial(api.create, body, dry_run=True), at, refusal)


def _claim(space: Space, storage_class: str) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "rehearsal", "namespace": space.namespace},
        "spec": claim_spec(storage_class),
    }
