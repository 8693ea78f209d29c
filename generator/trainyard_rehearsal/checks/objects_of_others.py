"""Tenants who change what a controller or the delivery made in their namespace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from trainyard.model.space import Space
from trainyard_rehearsal.checks.access_requests import claim_spec, config_map
from trainyard_rehearsal.checks.jobs import as_account, as_user
from trainyard_rehearsal.checks.new_roles import wait_until_permitted
from trainyard_rehearsal.checks.refusals import (
    FINALIZER,
    FROZEN,
    NO_CLAIMS,
    OF_DELIVERY,
    OF_OTHERS,
    OWNER,
)
from trainyard_rehearsal.checks.request_cases import RequestCase
from trainyard_rehearsal.checks.variants import as_json, with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab

_RBAC = "rbac.authorization.k8s.io"
_RUNNER = "rehearsal-runner"
"""Account of the namespace with every verb on claims, as the runner of pipelines has it."""

_ROOT = "kube-root-ca.crt"
_OWN = "rehearsal-own"
_MARKS: dict[str, Body] = {
    "delivered": {"labels": {"app.kubernetes.io/managed-by": "trainyard"}},
    "tracked": {"annotations": {"argocd.argoproj.io/tracking-id": "a:/ConfigMap:b/c"}},
    "trusted": {"labels": {"config.openshift.io/inject-trusted-cabundle": "true"}},
    "served": {"annotations": {"service.beta.openshift.io/inject-cabundle": "true"}},
    "served-alpha": {"annotations": {"service.alpha.openshift.io/inject-cabundle": "true"}},
}
"""Metadata by which a ConfigMap is not its tenant's."""

_CHANGES: tuple[Body, ...] = (
    {"immutable": True},
    {"data": {"ca.crt": "of a tenant"}},
    {"data": {"ca.crt": "of a tenant"}, "immutable": True},
    {"metadata": {"labels": {"mine": "x"}}},
    {"metadata": {"labels": None}},
)
_PROTECTIONS = (
    "snapshot.storage.kubernetes.io/pvc-as-source-protection",
    "provisioner.storage.kubernetes.io/cloning-protection",
)


@contextmanager
def objects_of_others(lab: Lab, space: Space) -> Iterator[None]:
    """Create such objects as an administrator, a member's own, and the runner's role."""
    bodies = [config_map(space, _OWN), *_marked(lab.api, space), *_runner(space)]
    for body in bodies:
        lab.api.create(body)
    runner = _as_runner(lab.api, space)
    wait_until_permitted(lab, runner, "update", "persistentvolumeclaims", space.namespace)
    try:
        yield
    finally:
        for body in bodies:
            lab.api.delete(body)


def hostile_to_others(lab: Lab, space: Space) -> Iterator[RequestCase]:
    """Yield requests of a member, and of an account that may change claims."""
    user = as_user(lab.api, space)
    for body in (config_map(space, _ROOT), *_marked(lab.api, space)):
        for change in _CHANGES:
            yield _case(space, body, f"{as_json(change)}", partial(user.patch, body, change))
        yield _case(space, body, "deleted", partial(user.delete, body))
    owned, alone = config_map(space, "rehearsal-owned"), {"metadata": {"ownerReferences": None}}
    yield _case(space, owned, "without its owner", partial(user.patch, owned, alone), OWNER)
    for body in _in_advance(space):
        yield _case(space, body, "created", partial(user.create, body))
    own = config_map(space, _OWN)
    freeze = partial(user.patch, own, {"immutable": True})
    yield _case(space, own, "made immutable", freeze, FROZEN)
    yield from _of_claims(lab, space)


def harmless_to_others(lab: Lab, space: Space) -> Iterator[RequestCase]:
    """Yield what a member does with a ConfigMap of the team's own."""
    user, own = as_user(lab.api, space), config_map(space, _OWN)
    yield _case(space, own, "changed", partial(user.patch, own, {"data": {"a": "b"}}), "")
    yield _case(space, own, "deleted", partial(user.delete, own), "")
    new = {**config_map(space), "immutable": True}
    yield _case(space, new, "created immutable", partial(user.create, new), "")


def _case(
    space: Space, body: Body, what: str, request: partial[Any], refusal: str = OF_OTHERS
) -> RequestCase:
    display = f"{space.namespace}: {body['kind']} {body['metadata']['name']}: {what}"
    return RequestCase(display, partial(request, dry_run=True), space.team.at, refusal)


def _marked(api: Api, space: Space) -> Iterator[Body]:
    """Yield a ConfigMap for each mark of a controller or the delivery; an owner is one."""
    for name, metadata in _MARKS.items():
        yield with_change(config_map(space, f"rehearsal-{name}"), {"metadata": metadata})
    owner = api.get("v1", "ConfigMap", _ROOT, space.namespace)["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": _ROOT, "uid": owner["uid"]}
    owned = {"metadata": {"ownerReferences": [reference]}}
    yield with_change(config_map(space, "rehearsal-owned"), owned)


def _in_advance(space: Space) -> Iterator[Body]:
    """Yield ConfigMaps that a controller would find in its place, or fill in."""
    for name in space.cluster.release.controller_config_maps:
        yield {**config_map(space, name.replace("*", "x")), "immutable": True}
    for name in ("delivered", "trusted", "served", "served-alpha"):
        yield with_change(config_map(space), {"metadata": _MARKS[name]})


def _of_claims(lab: Lab, space: Space) -> Iterator[RequestCase]:
    runner = _as_runner(lab.api, space)
    new: Body = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "rehearsal", "namespace": space.namespace, **_MARKS["delivered"]},
        "spec": claim_spec("x"),
    }
    refusal = OF_DELIVERY if space.claimable_classes else NO_CLAIMS
    yield _case(space, new, "created", partial(runner.create, new), refusal)
    if space.claims:
        claim = space.claims[0]
        body = with_change(new, {"metadata": {"name": claim.name, "labels": None}})
        yield _case(space, body, "deleted", partial(runner.delete, body), OF_DELIVERY)
        unmarked = {"metadata": {"labels": {"app.kubernetes.io/managed-by": None}}}
        taken = partial(runner.patch, body, unmarked)
        yield _case(space, body, "without its label", taken, OF_DELIVERY)
        hooked = partial(runner.patch, body, {"metadata": {"annotations": {"helm.sh/hook": "x"}}})
        yield _case(space, body, "with a hook", hooked, OF_DELIVERY)
        for finalizer in _PROTECTIONS:
            held = {"metadata": {"finalizers": ["kubernetes.io/pvc-protection", finalizer]}}
            yield _case(space, body, finalizer, partial(runner.patch, body, held), FINALIZER)


def _as_runner(api: Api, space: Space) -> Api:
    return as_account(api, f"system:serviceaccount:{space.namespace}:{_RUNNER}")


def _runner(space: Space) -> Iterator[Body]:
    """Yield the runner's role and its binding."""
    metadata = {"name": _RUNNER, "namespace": space.namespace}
    rule = {"apiGroups": [""], "resources": ["persistentvolumeclaims"], "verbs": ["*"]}
    yield {"apiVersion": f"{_RBAC}/v1", "kind": "Role", "metadata": metadata, "rules": [rule]}
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": _RUNNER},
        "subjects": [{"kind": "ServiceAccount", "name": _RUNNER, "namespace": space.namespace}],
    }
