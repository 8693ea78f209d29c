"""Objects and changes that an account has carried out by what has more rights than itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from trainyard.model import names
from trainyard.model.space import Space
from trainyard_rehearsal.checks import account_objects as objects
from trainyard_rehearsal.checks import wanted_nodes
from trainyard_rehearsal.checks.jobs import as_account
from trainyard_rehearsal.checks.refusals import (
    DELIVERY,
    DENIED,
    EGRESS,
    EPHEMERAL,
    FOREGROUND,
    INGRESS,
    KIND,
    NETWORK_FIXED,
    OF_DELIVERY,
    PLATFORMS,
)
from trainyard_rehearsal.checks.request_cases import RequestCase
from trainyard_rehearsal.checks.variants import with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab

_KINDS = (
    ("argoproj.io/v1beta1", "ArgoCD"),
    ("argoproj.io/v1beta1", "NamespaceManagement"),
    ("k8s.ovn.org/v1", "UserDefinedNetwork"),
)
"""Kinds whose operators give an account rights in the namespace, or its pods a network."""

RULES: tuple[tuple[str, list[str]], ...] = (
    *wanted_nodes.RULES,
    ("", ["pods/ephemeralcontainers", "pods/resize", "services/status"]),
    ("argoproj.io", ["argocds", "namespacemanagements"]),
    ("k8s.cni.cncf.io", ["network-attachment-definitions"]),
    ("k8s.ovn.org", ["userdefinednetworks"]),
    ("monitoring.coreos.com", ["podmonitors"]),
)
"""What OpenShift's OLM adds to the role `edit` for operators, and what the account of an Argo CD
has in its own namespace."""

_CNI = "eks:network-policy-controller"
_FINALIZER: Body = {"metadata": {"finalizers": ["networking.k8s.aws/resources"]}}
_NETWORKS = "k8s.cni.cncf.io/v1"
_NETWORK = "NetworkAttachmentDefinition"
_WIDE: Body = {"spec": {"podSelector": {"matchLabels": None}}}
_CHANGED: Body = {"spec": {"config": '{"cniVersion": "0.3.1", "type": "host-device"}'}}
_BALANCED: Body = {"status": {"loadBalancer": {}}}
_CONTAINERS: Body = {
    "spec": {
        "ephemeralContainers": [
            {
                "name": "mine",
                "image": "example.com/image",
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ]
    }
}


class OperatorCommands:
    """Requests of an account of a namespace, and of the operators that serve it."""

    def __init__(self, lab: Lab, space: Space, account: Api, rank: Body, pod: Body) -> None:
        """Prepare requests.

        Args:
            lab: with the tree applied.
            space: the namespace.
            account: the API for the account.
            rank: a rank with a node.
            pod: one without a node.
        """
        self._lab, self._space, self._account = lab, space, account
        self._rank, self._pod = rank, pod

    @property
    def operators(self) -> Iterator[Body]:
        """Subjects of the account's role that are operators."""
        namespace = self._lab.plan.site.cluster.release.sriov_namespace
        yield {"kind": "ServiceAccount", "name": "sriov-network-operator", "namespace": namespace}
        yield {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": _CNI}

    def existing(self) -> Iterator[Body]:
        """Yield what others made in the namespace."""
        yield self._policy("Ingress", {"ingress": [{"ports": [{"port": 3306}]}]})
        yield self._policy("Egress", {"egress": [{}]})
        yield self._service()
        if self._fabrics:
            yield _network(self._space, "rehearsal-rail")

    def hostile(self) -> Iterator[RequestCase]:
        """Yield what an operator, the scheduler or a kubelet would do for the account."""
        yield from self._pods()
        yield from self._policies()
        for key in ("annotations", "labels"):
            keys = {"metadata": {key: {"argocd.argoproj.io/instance": "x"}}}
            request = partial(self._account.patch, self._service(), keys, "status")
            yield self._case(self._service(), f"its status with {key}", DELIVERY, request)
        for version, kind in _KINDS:
            body = _object(self._space, version, kind)
            yield self._case(body, "created", KIND, partial(self._account.create, body))
        monitor = _monitor(self._space)
        yield self._case(monitor, "created", OF_DELIVERY, partial(self._account.create, monitor))
        site = self._lab.plan.site
        space = self._space.namespace
        yield from wanted_nodes.feature_cases(site, self._account, space, DENIED)
        yield from wanted_nodes.binding_cases(site, self._account, self._pod)
        if self._fabrics:
            yield from self._networks()

    def harmless(self) -> Iterator[RequestCase]:
        """Yield what operators and the scheduler do, and changes that widen nothing."""
        site = self._lab.plan.site
        scheduler = self._lab.api.acting("system:kube-scheduler", ["system:authenticated"])
        yield from wanted_nodes.binding_cases(site, scheduler, self._pod, "")
        for policy in list(self.existing())[:2]:
            request = partial(self._account.patch, policy, {"metadata": {"labels": {"mine": "x"}}})
            yield self._case(policy, "labelled", "", request)
        yield from self._held(_FINALIZER, "")
        status = partial(self._account.patch, self._service(), _BALANCED, "status")
        yield self._case(self._service(), "with another status", "", status)
        debug = partial(self._lab.api.patch, self._rank, _CONTAINERS, "ephemeralcontainers")
        yield self._case(self._rank, "debugged by an administrator", "", debug)
        if self._fabrics:
            yield from self._changes(self._sriov(), _network(self._space, "rehearsal-rail"), "")
            new = _network(self._space, "rehearsal")
            yield self._case(new, "created", "", partial(self._sriov().create, new))

    @property
    def _fabrics(self) -> bool:
        return bool(self._lab.plan.site.cluster.rail_fabrics)

    def _sriov(self) -> Api:
        operator, _ = self.operators
        account = f"system:serviceaccount:{operator['namespace']}:{operator['name']}"
        return as_account(self._lab.api, account)

    def _pods(self) -> Iterator[RequestCase]:
        """Yield a command in a rank, and deletions that wait for what names it as owner."""
        rank = self._rank
        debug = partial(self._account.patch, rank, _CONTAINERS, "ephemeralcontainers")
        yield self._case(rank, "with an ephemeral container", EPHEMERAL, debug)
        resize = partial(self._account.patch, rank, {"metadata": {"labels": {"a": "b"}}}, "resize")
        yield self._case(rank, "resized", EPHEMERAL, resize)
        delete = partial(self._account.delete, rank, "Foreground")
        yield self._case(rank, "deleted, Foreground", FOREGROUND, delete)
        eviction = objects.eviction(rank, {"propagationPolicy": "Foreground"})
        evict = partial(self._account.create, rank, "eviction", eviction)
        yield self._case(rank, "evicted, Foreground", FOREGROUND, evict)

    def _held(self, change: Body, refusal: str) -> Iterator[RequestCase]:
        """Yield a change of the tree's own policy by the controller of EKS' CNI."""
        cni = self._lab.api.acting(_CNI, ["system:authenticated"])
        metadata = {"name": names.NETWORK_POLICIES[0], "namespace": self._space.namespace}
        policy = {**objects.network_policy(self._space), "metadata": metadata}
        yield self._case(policy, str(change), refusal, partial(cni.patch, policy, change))

    def _policies(self) -> Iterator[RequestCase]:
        """Yield NetworkPolicies of others that would hold for every pod."""
        policies = list(self.existing())[:2]
        for policy, refusal in zip(policies, (INGRESS, EGRESS), strict=True):
            request = partial(self._account.patch, policy, _WIDE)
            yield self._case(policy, "for every pod", refusal, request)
        yield from self._held({"spec": {"podSelector": {"matchLabels": {"a": "b"}}}}, PLATFORMS)

    def _networks(self) -> Iterator[RequestCase]:
        """Yield networks of the account, and changes of those that are there."""
        network = _network(self._space, "rehearsal")
        yield self._case(network, "created", KIND, partial(self._account.create, network))
        found = self._lab.api.list(_NETWORKS, _NETWORK, self._space.namespace)
        for network in found:
            body = {"apiVersion": _NETWORKS, "kind": _NETWORK, **network}
            yield from self._changes(self._account, body, NETWORK_FIXED, changed=KIND)
            if body["metadata"].get("labels"):
                yield from self._changes(self._sriov(), body, NETWORK_FIXED)

    def _changes(
        self, maker: Api, network: Body, refusal: str, changed: str = ""
    ) -> Iterable[RequestCase]:
        change = partial(maker.patch, network, _CHANGED)
        yield self._case(network, "with another configuration", changed or refusal, change)
        yield self._case(network, "deleted", refusal, partial(maker.delete, network))

    def _service(self) -> Body:
        service = _object(self._space, "v1", "Service", "rehearsal-status")
        return {**service, "spec": {"ports": [{"port": 80}]}}

    def _policy(self, direction: str, rules: Body) -> Body:
        policy = objects.network_policy(self._space)
        metadata = {**policy["metadata"], "name": f"rehearsal-{direction.lower()}"}
        spec = {"podSelector": policy["spec"]["podSelector"], "policyTypes": [direction], **rules}
        return {**policy, "metadata": metadata, "spec": spec}

    def _case(self, body: Body, what: str, refusal: str, request: partial[Any]) -> RequestCase:
        name = f"{body['kind']} {body['metadata']['name']}"
        display = f"{self._space.namespace}: {name} {what}"
        return RequestCase(display, partial(request, dry_run=True), self._space.team.at, refusal)


def _object(space: Space, version: str, kind: str, name: str = "rehearsal") -> Body:
    metadata = {"name": name, "namespace": space.namespace}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _network(space: Space, name: str) -> Body:
    """Return a network as the SR-IOV operator makes it, without a mark of the delivery."""
    body = _object(space, _NETWORKS, _NETWORK, name)
    return {**body, "spec": {"config": '{"cniVersion": "0.3.1", "type": "sriov", "vlan": 2}'}}


def _monitor(space: Space) -> Body:
    body = _object(space, "monitoring.coreos.com/v1", "PodMonitor")
    marked = {"metadata": {"labels": {"app.kubernetes.io/managed-by": "trainyard"}}}
    return {**with_change(body, marked), "spec": {"podMetricsEndpoints": [], "selector": {}}}
