"""Changes with which a pod would get nodes or devices of the pools, or another team's network."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.cluster import Cluster
from trainyard.model.platform import Site
from trainyard_rehearsal.control_plane.api import Body

_TOLERATION = "spec.tolerations must not tolerate"
_DEVICE = "a container must not ask for"
_NODE = "spec.nodeName must be absent"
_PRIORITY = "spec.priorityClassName must not begin with system-"
_NETWORK = "must name none of another team's namespace"
_GATEWAY = "can't make a pod the gateway of other namespaces"
_GUID = "can't state a GUID or partition"
_INTERFACE = "can't name a network of the training nodes"
_TEXTS = (
    "{0}/rail-0",
    "mine, {0}/rail-0@net1",
    '[{{"name": "rail-0", "namespace": "{0}"}}]',
    '[{{"name": "rail-0", "Namespace" :"{0}"}}]',
    '[{{"name": "rail-0", "\\u006eamespace": "{0}"}}]',
    '[{{"name": "rail-0", "name\u017fpace": "{0}"}}]',
)
"""Spellings of another namespace's network that encoding/json of Go accepts."""

_GUIDS = (
    '[{"name": "own", "infiniband-guid": "02:00:00:00:00:00:00:01"}]',
    '[{"name": "own", "cni-args": {"Guid": "02:00:00:00:00:00:00:01"}}]',
)
"""Networks by which ib-kubernetes would give or take a partition."""


def pool_attacks(site: Site, plain: Body, own: str = "") -> Iterator[tuple[Body, str]]:
    """Yield changes that a new pod must not have, each with its refusal.

    Args:
        site: the cluster.
        plain: the pod's container.
        own: the pod's namespace.
    """
    yield from pool_changes(site, own)
    for device in site.cluster.devices:
        asks = {**plain, "resources": {"limits": {device: "1"}}}
        yield {"spec": {"containers": [asks]}}, _DEVICE
        first = {**asks, "name": "first"}
        yield {"spec": {"initContainers": [first], "containers": [plain]}}, _DEVICE
    yield {"spec": {"nodeName": f"{site.cluster.pools[0].name}-001"}}, _NODE
    for priority in ("system-node-critical", "system-cluster-critical"):
        yield {"spec": {"priorityClassName": priority}}, _PRIORITY


def pool_changes(site: Site, own: str = "") -> Iterator[tuple[Body, str]]:
    """Yield changes that neither a new nor an existing pod must have, each with its refusal."""
    for toleration in _tolerations(site.cluster):
        yield {"spec": {"tolerations": [toleration]}}, _TOLERATION
    yield from networks(site, own)
    yield from _interfaces(site.cluster)


def networks(site: Site, own: str = "") -> Iterator[tuple[Body, str]]:
    """Yield annotations that a rank must not have either: networks of others, and GUIDs."""
    if site.cluster.rail_fabrics:
        yield from _networks(site, own)
        for text in _GUIDS:
            yield {"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": text}}}, _GUID


def _interfaces(cluster: Cluster) -> Iterator[tuple[Body, str]]:
    """Yield annotations that list an interface in a network of the pools, spelt in two ways."""
    for fabric in cluster.device_fabrics:
        keys = fabric.provider.annotations
        if keys is None:
            continue
        for name in fabric.networks[:1]:
            hidden = f"\\u{ord(name[0]):04x}{name[1:]}"
            for spelt in (name, hidden):
                listed = f'[{{"interfaceName":"eth1","network":"{spelt}"}}]'
                yield {"metadata": {"annotations": {keys.interfaces: listed}}}, _INTERFACE


def gateways() -> Iterator[tuple[Body, str]]:
    """Yield annotations by which OVN-Kubernetes sends traffic of others to a pod.

    It gives a pod the address that is annotated, also one that another pod has
    (ovn-org/ovn-kubernetes:go-controller/pkg/ovn/base_network_controller_pods.go@6c366bb).
    """
    address = '{"default": {"ip_address": "10.128.2.17/23", "mac_address": "0a:58:0a:80:02:11"}}'
    for key, value in (
        ("k8s.ovn.org/pod-networks", address),
        ("k8s.ovn.org/routing-namespaces", "team-nlp"),
        ("k8s.ovn.org/routing-network", "project/net"),
        ("k8s.ovn.org/bfd-enabled", ""),
    ):
        yield {"metadata": {"annotations": {key: value}}}, _GATEWAY


def _tolerations(cluster: Cluster) -> Iterator[Body]:
    yield {"operator": "Exists"}
    yield {"operator": "Exists", "effect": "NoSchedule"}
    for taint in cluster.taints:
        yield {"key": taint, "operator": "Exists"}
        yield {"key": taint, "operator": "Equal", "value": "present", "effect": "NoSchedule"}


def _networks(site: Site, own: str) -> Iterator[tuple[Body, str]]:
    """Yield annotations that name a network in a team's namespace, not in the pod's own."""
    spaces = [space.namespace for tenant in site.tenants for space in tenant.spaces]
    others = [name for name in spaces if name != own]
    if others:
        namespace = others[0]
        for key in ("k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network"):
            for text in _TEXTS:
                yield {"metadata": {"annotations": {key: text.format(namespace)}}}, _NETWORK
