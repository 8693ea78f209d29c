"""Check that pods in a namespace without a team get no nodes of the pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from trainyard_rehearsal.checks.jobs import as_account, as_deputy
from trainyard_rehearsal.checks.new_roles import wait_until_permitted
from trainyard_rehearsal.checks.pool_attacks import gateways, pool_attacks, pool_changes
from trainyard_rehearsal.checks.refusals import BLOCKED
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally
from trainyard_rehearsal.checks.variants import as_json, with_change
from trainyard_rehearsal.checks.wanted_nodes import (
    RULES,
    binding_cases,
    feature_cases,
    operator_cases,
    own_operand_cases,
)
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

_NAMESPACE = "rehearsal-outsider"
_REQUESTED = "openshift-rehearsal"
_USERS = {"admin": "self-provisioner@example.com", "edit": "outsider@example.com"}
"""Users by their role in the namespace; OpenShift gives `admin` to the requester of a project."""

_SYSTEM = "kube-system"
_DAEMONS = "daemon-set-controller"
_CONTROLLERS = ("replicaset-controller", _DAEMONS, "job-controller")
"""Controllers of Kubernetes that create pods for users."""

_WORKER = "nfd-worker"
"""Account of a daemon: NFD's says what its node has."""

_IN_SYSTEM = "deployer@example.com"
"""Somebody who edits a namespace of daemons, and no nodes."""

_RBAC = "rbac.authorization.k8s.io"
_PLAIN = {"name": "main", "image": "example.com/image"}
_UID = "11111111-1111-1111-1111-111111111111"
_ADDRESS = "spec.externalIPs takes the traffic"
_TRIAL_OWNER = "a trial's object must have no metadata.ownerReferences"
_RESIZED = "orbidden: "
"""The policy says so, or the API server itself from Kubernetes 1.35 on."""
_ADDRESSED: Body = {"metadata": {"annotations": {"k8s.ovn.org/pod-networks": "{}"}}}
"""What OVN-Kubernetes says of a pod that has an address."""
_CLAIM_OWNER = "spec.volumeClaimTemplates: no metadata.ownerReferences can have blockOwnerDeletion"


def check_outsiders(lab: Lab) -> Iterator[Outcome]:
    """Create pods in a namespace without a team, as its admin, its editor and controllers.

    Args:
        lab: with the tree applied.
    """
    _prepare(lab)
    hostile, harmless = RequestTally(), RequestTally()
    site = lab.plan.site
    users = [_user(lab, role) for role in _USERS]
    for user in users:
        wait_until_permitted(lab, user, "create", "pods", _NAMESPACE)
    controllers = [_controller(lab, name) for name in _CONTROLLERS]
    for maker in (*users, *controllers, as_deputy(lab.api)):
        hostile.send(_pods(lab, maker, _NAMESPACE, (*pool_attacks(site, _PLAIN), *gateways())))
        harmless.send(_pods(lab, maker, _NAMESPACE, [({}, "")]))
    permitted = [(change, "") for change, _ in pool_attacks(site, _PLAIN)]
    harmless.send(_pods(lab, _controller(lab, _DAEMONS), _SYSTEM, permitted))
    harmless.send(_pods(lab, lab.api, _NAMESPACE, permitted))
    for maker, namespace in _strangers(lab):
        hostile.send(_pods(lab, maker, namespace, pool_attacks(site, _PLAIN)))
        harmless.send(_pods(lab, maker, namespace, [({}, "")]))
    existing = with_change(_pod(_NAMESPACE), _ADDRESSED)
    lab.api.create(existing)
    hostile.send(_changes(lab, existing, (*pool_changes(site), *gateways())))
    harmless.send(_changes(lab, existing, [({"metadata": {"labels": {"mine": "x"}}}, "")]))
    _choose_nodes(lab, existing, hostile, harmless)
    lab.api.delete(existing)
    if "external-ips" in site.cluster.release.features:
        hostile.send(_services(lab, users, _ADDRESS))
        harmless.send(_services(lab, [lab.api], ""))
    yield hostile.outcome("pool use without a team refused")
    yield harmless.outcome("other pods accepted")


def _choose_nodes(lab: Lab, existing: Body, hostile: RequestTally, harmless: RequestTally) -> None:
    """Bind and hold pods, and say what a node is, as an admin and as who does so for all."""
    site, admin = lab.plan.site, _user(lab, "admin")
    hostile.send(feature_cases(site, admin, _NAMESPACE))
    hostile.send(operator_cases(site, admin, _NAMESPACE))
    harmless.send(own_operand_cases(site, admin, _NAMESPACE))
    hostile.send(_waited_for(lab))
    hostile.send(_resized(lab, existing))
    templates = [*_stateful(lab), *_trials(lab)]
    hostile.send(case for case in templates if case.refusal)
    harmless.send(case for case in templates if not case.refusal)
    hostile.send(binding_cases(site, admin, existing))
    scheduler = lab.api.acting("system:kube-scheduler", ["system:authenticated"])
    harmless.send(binding_cases(site, scheduler, existing, ""))
    worker = _controller(lab, _WORKER)
    harmless.send(feature_cases(site, worker, _SYSTEM, ""))
    harmless.send(operator_cases(site, worker, _SYSTEM, ""))


def _strangers(lab: Lab) -> Iterator[tuple[Api, str]]:
    """Yield who creates pods in a namespace that is for daemons by its name, and is not one."""
    deployer = lab.api.acting(_IN_SYSTEM, ["system:authenticated"])
    wait_until_permitted(lab, deployer, "create", "pods", _SYSTEM)
    yield deployer, _SYSTEM
    if lab.plan.site.cluster.release.has_projects:
        yield _controller(lab, _DAEMONS), requested_namespace(lab)


def _user(lab: Lab, role: str) -> Api:
    return lab.api.acting(_USERS[role], ["system:authenticated"])


def _controller(lab: Lab, name: str) -> Api:
    return as_account(lab.api, f"system:serviceaccount:{_SYSTEM}:{name}")


def _pods(
    lab: Lab, maker: Api, namespace: str, changes: Iterable[tuple[Body, str]]
) -> Iterator[RequestCase]:
    """Yield requests for new pods, each after a change to a plain pod."""
    for change, refusal in changes:
        pod = with_change(_pod(namespace), change)
        request = partial(maker.create, pod, dry_run=True)
        display = f"a pod with {as_json(change)}"
        yield RequestCase(display, request, lab.plan.site.cluster.at, refusal)


def _changes(
    lab: Lab, existing: Body, changes: Iterable[tuple[Body, str]]
) -> Iterator[RequestCase]:
    """Yield changes of an existing pod by the namespace's admin."""
    for change, refusal in changes:
        request = partial(_user(lab, "admin").patch, existing, change, dry_run=True)
        display = f"a pod changed to {as_json(change)}"
        yield RequestCase(display, request, lab.plan.site.cluster.at, refusal)


def _resized(lab: Lab, existing: Body) -> Iterator[RequestCase]:
    """Yield resizes that add a device, which Kubernetes 1.34 permits to containers without any."""
    for device in lab.plan.site.cluster.devices:
        container = {**_PLAIN, "resources": {"limits": {device: "1"}, "requests": {device: "1"}}}
        change = {"spec": {"containers": [container]}}
        request = partial(as_deputy(lab.api).patch, existing, change, "resize", dry_run=True)
        display = f"a pod resized to {device}"
        yield RequestCase(display, request, lab.plan.site.cluster.at, _RESIZED)


def _services(lab: Lab, makers: Iterable[Api], refusal: str) -> Iterator[RequestCase]:
    """Yield requests for a Service that takes an address, for example of the object store."""
    spec = {"ports": [{"port": 443}], "externalIPs": ["203.0.113.5"]}
    metadata = _metadata("rehearsal", _NAMESPACE)
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
    for maker in makers:
        request = partial(maker.create, service, dry_run=True)
        yield RequestCase("a Service with externalIPs", request, lab.plan.site.cluster.at, refusal)


def _waited_for(lab: Lab) -> Iterator[RequestCase]:
    """Yield a ConfigMap for which the garbage collector would keep a pod of another namespace.

    It compares the uid of an owner alone (kubernetes/kubernetes:
    pkg/controller/garbagecollector/graph_builder.go@v1.34.4).
    """
    for version, kind in (("v1", "Pod"), ("example.com/v1", "Nope")):
        owner = {"apiVersion": version, "kind": kind, "name": "x", "uid": _UID}
        reference = {**owner, "blockOwnerDeletion": True}
        metadata = {**_metadata("rehearsal", _NAMESPACE), "ownerReferences": [reference]}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        request = partial(_user(lab, "admin").create, body, dry_run=True)
        yield RequestCase(f"an owner {kind}", request, lab.plan.site.cluster.at, BLOCKED)


def _trials(lab: Lab) -> Iterator[RequestCase]:
    """Yield what Katib would make with its own right to name owners, and one without an owner."""
    owner = {"apiVersion": "example.com/v1", "kind": "Nope", "name": "x", "uid": _UID}
    for owners, refusal in (([], ""), ([owner], _TRIAL_OWNER)):
        body = {
            "apiVersion": "kubeflow.org/v1beta1",
            "kind": "Trial",
            "metadata": _metadata("rehearsal", _NAMESPACE),
            "spec": {"runSpec": {"metadata": {"ownerReferences": owners}}},
        }
        request = partial(_user(lab, "admin").create, body, dry_run=True)
        display = f"a Trial with {len(owners)} owners of its object"
        yield RequestCase(display, request, lab.plan.site.cluster.at, refusal)


def _stateful(lab: Lab) -> Iterator[RequestCase]:
    """Yield a StatefulSet whose claim would do the same: Kubernetes makes it, which may do so."""
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "x", "uid": _UID}
    claimed = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    labels = {"matchLabels": {"a": "b"}}
    waited_for = {**owner, "blockOwnerDeletion": True}
    for owners, refusal in (([], ""), ([owner], ""), ([waited_for], _CLAIM_OWNER)):
        claim = {"metadata": {"name": "a", "ownerReferences": owners}, "spec": claimed}
        body = {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": _metadata("rehearsal", _NAMESPACE),
            "spec": {
                "selector": labels,
                "serviceName": "rehearsal",
                "template": {
                    "metadata": {"labels": labels["matchLabels"]},
                    "spec": {"containers": [_PLAIN]},
                },
                "volumeClaimTemplates": [claim],
            },
        }
        request = partial(_user(lab, "admin").create, body, dry_run=True)
        display = f"a StatefulSet whose claim has {as_json({'ownerReferences': owners})}"
        yield RequestCase(display, request, lab.plan.site.cluster.at, refusal)


def _prepare(lab: Lab) -> None:
    """Create the namespace, its admin and its editor, and the service accounts that pods need."""
    lab.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})
    for namespace in (_NAMESPACE, _SYSTEM):
        metadata = _metadata("default", namespace)
        lab.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    bindings = [(role, user, _NAMESPACE) for role, user in _USERS.items()]
    for role, user, namespace in (*bindings, ("edit", _IN_SYSTEM, _SYSTEM)):
        binding = {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": _metadata(f"rehearsal-{role}", namespace),
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
        }
        lab.api.apply(binding)
    for body in _rights():
        lab.api.apply(body)
    wait_until_permitted(lab, _user(lab, "admin"), "create", "pods/binding", _NAMESPACE)
    worker = _controller(lab, _WORKER)
    group, _ = RULES[-1]
    wait_until_permitted(lab, worker, "create", f"selfnoderemediations.{group}", _SYSTEM)


def _rights() -> Iterator[Body]:
    """Yield rights of operators: of a user in the namespace, and of a daemon in its own."""
    rules = [{"apiGroups": [group], "resources": of, "verbs": ["*"]} for group, of in RULES]
    user = {"apiGroup": _RBAC, "kind": "User", "name": _USERS["admin"]}
    daemon = {"kind": "ServiceAccount", "name": _WORKER, "namespace": _SYSTEM}
    for namespace, subject in ((_NAMESPACE, user), (_SYSTEM, daemon)):
        metadata = _metadata("rehearsal-operators", namespace)
        version = f"{_RBAC}/v1"
        yield {"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": rules}
        yield {
            "apiVersion": version,
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": metadata["name"]},
            "subjects": [subject],
        }


def requested_namespace(lab: Lab) -> str:
    """Create a namespace with a name for daemons that a user requested before the first sync."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _REQUESTED}}
    lab.api.apply(body)
    requester = {"openshift.io/requester": _USERS["admin"]}
    lab.api.patch(body, {"metadata": {"annotations": requester}})
    account = {"apiVersion": "v1", "kind": "ServiceAccount"}
    lab.api.apply({**account, "metadata": _metadata("default", _REQUESTED)})
    return _REQUESTED


def _metadata(name: str, namespace: str) -> dict[str, str]:
    return {"name": name, "namespace": namespace}


def _pod(namespace: str) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata("rehearsal", namespace),
        "spec": {
            "automountServiceAccountToken": False,
            # No scheduler has this name: the pod only has to exist.
            "schedulerName": "nobody",
            "containers": [_PLAIN],
        },
    }
