"""Check that pods in a namespace without a team get no nodes of the pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from trainyard.model.cluster import Cluster
from trainyard.model.platform import Site
from trainyard_rehearsal.checks.jobs import as_account
from trainyard_rehearsal.checks.new_roles import wait_until_permitted
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally
from trainyard_rehearsal.checks.variants import as_json, with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

_NAMESPACE = "rehearsal-outsider"
_USERS = {"admin": "self-provisioner@example.com", "edit": "outsider@example.com"}
"""Users by their role in the namespace; OpenShift gives `admin` to the requester of a project."""

_SYSTEM = "kube-system"
_DAEMONS = "daemon-set-controller"
_CONTROLLERS = ("replicaset-controller", _DAEMONS, "job-controller")
"""Controllers of Kubernetes that create pods for users."""

_RBAC = "rbac.authorization.k8s.io"
_TOLERATION = "spec.tolerations must not tolerate"
_DEVICE = "a container must not ask for"
_NODE = "spec.nodeName must be absent"
_PRIORITY = "spec.priorityClassName must not begin with system-"
_NETWORK = "must name none of another team's namespace"
_ADDRESS = "spec.externalIPs takes the traffic"
_TEXTS = (
    "{0}/rail-0",
    "mine, {0}/rail-0@net1",
    '[{{"name": "rail-0", "namespace": "{0}"}}]',
    '[{{"name": "rail-0", "Namespace" :"{0}"}}]',
    '[{{"name": "rail-0", "\\u006eamespace": "{0}"}}]',
    '[{{"name": "rail-0", "name\u017fpace": "{0}"}}]',
)
"""Spellings of another namespace's network that encoding/json of Go accepts."""


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
    for maker in (*users, *controllers):
        hostile.send(_pods(lab, maker, _NAMESPACE, _hostile(site)))
        harmless.send(_pods(lab, maker, _NAMESPACE, [({}, "")]))
    permitted = [(change, "") for change, _ in _hostile(site)]
    harmless.send(_pods(lab, _controller(lab, _DAEMONS), _SYSTEM, permitted))
    harmless.send(_pods(lab, lab.api, _NAMESPACE, permitted))
    existing = _pod(_NAMESPACE)
    lab.api.create(existing)
    hostile.send(_changes(lab, existing, _hostile_changes(site)))
    harmless.send(_changes(lab, existing, [({"metadata": {"labels": {"mine": "x"}}}, "")]))
    lab.api.delete(existing)
    if "external-ips" in site.cluster.release.features:
        hostile.send(_services(lab, users, _ADDRESS))
        harmless.send(_services(lab, [lab.api], ""))
    yield hostile.outcome("pool use without a team refused")
    yield harmless.outcome("other pods accepted")


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


def _services(lab: Lab, makers: Iterable[Api], refusal: str) -> Iterator[RequestCase]:
    """Yield requests for a Service that takes an address, for example of the object store."""
    spec = {"ports": [{"port": 443}], "externalIPs": ["203.0.113.5"]}
    metadata = _metadata("rehearsal", _NAMESPACE)
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
    for maker in makers:
        request = partial(maker.create, service, dry_run=True)
        yield RequestCase("a Service with externalIPs", request, lab.plan.site.cluster.at, refusal)


def _prepare(lab: Lab) -> None:
    """Create the namespace, its admin and its editor, and the service accounts that pods need."""
    lab.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})
    for namespace in (_NAMESPACE, _SYSTEM):
        metadata = _metadata("default", namespace)
        lab.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    for role, user in _USERS.items():
        binding = {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": _metadata(role, _NAMESPACE),
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
        }
        lab.api.apply(binding)


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
            "containers": [{"name": "main", "image": "example.com/image"}],
        },
    }


def _hostile(site: Site) -> Iterator[tuple[Body, str]]:
    """Yield changes that a new pod must not have."""
    yield from _hostile_changes(site)
    plain = {"name": "main", "image": "example.com/image"}
    for device in site.cluster.devices:
        asks = {**plain, "resources": {"limits": {device: "1"}}}
        yield {"spec": {"containers": [asks]}}, _DEVICE
        first = {**asks, "name": "first"}
        yield {"spec": {"initContainers": [first], "containers": [plain]}}, _DEVICE
    yield {"spec": {"nodeName": f"{site.cluster.pools[0].name}-001"}}, _NODE
    for priority in ("system-node-critical", "system-cluster-critical"):
        yield {"spec": {"priorityClassName": priority}}, _PRIORITY


def _hostile_changes(site: Site) -> Iterator[tuple[Body, str]]:
    """Yield changes that neither a new nor an existing pod must have."""
    for toleration in _tolerations(site.cluster):
        yield {"spec": {"tolerations": [toleration]}}, _TOLERATION
    if site.cluster.fabrics:
        yield from _networks(site)


def _tolerations(cluster: Cluster) -> Iterator[Body]:
    yield {"operator": "Exists"}
    yield {"operator": "Exists", "effect": "NoSchedule"}
    for taint in cluster.taints:
        yield {"key": taint, "operator": "Exists"}
        yield {"key": taint, "operator": "Equal", "value": "present", "effect": "NoSchedule"}


def _networks(site: Site) -> Iterator[tuple[Body, str]]:
    """Yield annotations that name a network in the first team's namespace."""
    if not site.tenants:
        return
    for space in site.tenants[0].spaces[:1]:
        for key in ("k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network"):
            for text in _TEXTS:
                yield {"metadata": {"annotations": {key: text.format(space.namespace)}}}, _NETWORK
