"""Somebody with a namespace of their own and no team: their pods get none of the pools' nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from trainyard.model.cluster import Cluster
from trainyard.model.platform import Site
from trainyard_rehearsal.checks.admission import Tries, Try, as_account
from trainyard_rehearsal.checks.variants import shown, with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

_NAMESPACE = "rehearsal-outsider"
_USERS = {"admin": "self-provisioner@example.com", "edit": "outsider@example.com"}
"""By their role in the namespace; OpenShift gives `admin` to whoever requests a project."""

_SYSTEM = "kube-system"
_DAEMONS = "daemon-set-controller"
_CONTROLLERS = ("replicaset-controller", _DAEMONS, "job-controller")
"""Of Kubernetes, which make pods for whoever may make their owners."""

_RBAC = "rbac.authorization.k8s.io"
_TOLERATION = "spec.tolerations must not tolerate"
_DEVICE = "a container must not ask for"
_NODE = "spec.nodeName must be absent"
_PRIORITY = "spec.priorityClassName must not begin with system-"
_NETWORK = "must name none of another team's namespace"
_TEXTS = (
    "{0}/rail-0",
    "mine, {0}/rail-0@net1",
    '[{{"name": "rail-0", "namespace": "{0}"}}]',
    '[{{"name": "rail-0", "Namespace" :"{0}"}}]',
    '[{{"name": "rail-0", "\\u006eamespace": "{0}"}}]',
    '[{{"name": "rail-0", "name\u017fpace": "{0}"}}]',
)
"""Ways to write another namespace's network, as encoding/json of Go reads keys."""


def check_outsiders(lab: Lab) -> Iterator[Outcome]:
    """Try pods of a namespace without a team, made by its admin and editor and by controllers on their behalf.

    Args:
        lab: with the tree applied.
    """
    _settle(lab)
    bad, good = Tries(), Tries()
    makers = [
        *(_user(lab, role) for role in _USERS),
        *(_controller(lab, name) for name in _CONTROLLERS),
    ]
    for maker in makers:
        bad.make(_pods(lab, maker, _NAMESPACE, _hostile(lab.plan.site)))
        good.make(_pods(lab, maker, _NAMESPACE, [({}, "")]))
    daemons, demands = (
        _controller(lab, _DAEMONS),
        [(change, "") for change, _ in _hostile(lab.plan.site)],
    )
    good.make(_pods(lab, daemons, _SYSTEM, demands))
    good.make(_pods(lab, lab.api, _NAMESPACE, demands))
    standing = _pod(_NAMESPACE)
    lab.api.create(standing)
    bad.make(_changes(lab, standing, _hostile_changes(lab.plan.site)))
    good.make(_changes(lab, standing, [({"metadata": {"labels": {"mine": "x"}}}, "")]))
    lab.api.delete(standing)
    yield bad.outcome("outsiders' pods kept off the pools")
    yield good.outcome("other pods pass")


def _user(lab: Lab, role: str) -> Api:
    return lab.api.acting(_USERS[role], ["system:authenticated"])


def _controller(lab: Lab, name: str) -> Api:
    return as_account(lab.api, f"system:serviceaccount:{_SYSTEM}:{name}")


def _pods(
    lab: Lab, maker: Api, namespace: str, changes: Iterable[tuple[Body, str]]
) -> Iterator[Try]:
    """Yield new pods with a change to what anybody may have."""
    for change, words in changes:
        pod = with_change(_pod(namespace), change)
        yield Try(
            f"a pod with {shown(change)}",
            partial(maker.create, pod, dry_run=True),
            lab.plan.site.cluster.at,
            words,
        )


def _changes(lab: Lab, standing: Body, changes: Iterable[tuple[Body, str]]) -> Iterator[Try]:
    """Yield what an admin could change in a pod that stands."""
    for change, words in changes:
        request = partial(_user(lab, "admin").patch, standing, change, dry_run=True)
        yield Try(f"a pod changed to {shown(change)}", request, lab.plan.site.cluster.at, words)


def _settle(lab: Lab) -> None:
    """Make the namespace, its admin and its editor; pods there need no account's token."""
    lab.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})
    for namespace in (_NAMESPACE, _SYSTEM):
        account = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": namespace},
        }
        lab.api.apply(account)
    for role, user in _USERS.items():
        lab.api.apply(
            {
                "apiVersion": f"{_RBAC}/v1",
                "kind": "RoleBinding",
                "metadata": _metadata(role, _NAMESPACE),
                "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
                "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
            }
        )


def _metadata(name: str, namespace: str) -> dict[str, str]:
    return {"name": name, "namespace": namespace}


def _pod(namespace: str) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata("rehearsal", namespace),
        "spec": {
            "automountServiceAccountToken": False,
            # Nobody schedules it: it only has to stand.
            "schedulerName": "nobody",
            "containers": [{"name": "main", "image": "example.com/image"}],
        },
    }


def _hostile(site: Site) -> Iterator[tuple[Body, str]]:
    """Yield what a new pod must not say."""
    yield from _hostile_changes(site)
    for device in site.cluster.devices:
        asks = {
            "name": "main",
            "image": "example.com/image",
            "resources": {"limits": {device: "1"}},
        }
        yield {"spec": {"containers": [asks]}}, _DEVICE
        harmless = {"name": "main", "image": "example.com/image"}
        yield (
            {"spec": {"initContainers": [{**asks, "name": "first"}], "containers": [harmless]}},
            _DEVICE,
        )
    yield {"spec": {"nodeName": f"{site.cluster.pools[0].name}-001"}}, _NODE
    for priority in ("system-node-critical", "system-cluster-critical"):
        yield {"spec": {"priorityClassName": priority}}, _PRIORITY


def _hostile_changes(site: Site) -> Iterator[tuple[Body, str]]:
    """Yield what an update of a pod must not bring, nor a new pod say."""
    yield from (
        ({"spec": {"tolerations": [each]}}, _TOLERATION) for each in _tolerations(site.cluster)
    )
    if site.cluster.fabrics:
        yield from _networks(site)


def _tolerations(cluster: Cluster) -> Iterator[Body]:
    yield {"operator": "Exists"}
    yield {"operator": "Exists", "effect": "NoSchedule"}
    for taint in cluster.taints:
        yield {"key": taint, "operator": "Exists"}
        yield {"key": taint, "operator": "Equal", "value": "present", "effect": "NoSchedule"}


def _networks(site: Site) -> Iterator[tuple[Body, str]]:
    for space in (space for tenant in site.tenants[:1] for space in tenant.spaces[:1]):
        for key in ("k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network"):
            for text in _TEXTS:
                yield {"metadata": {"annotations": {key: text.format(space.namespace)}}}, _NETWORK
