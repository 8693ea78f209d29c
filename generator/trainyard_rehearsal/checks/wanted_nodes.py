"""Requests that choose a node, or say what a node is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from trainyard.model.platform import Site
from trainyard_rehearsal.checks.refusals import BINDING, NODE_FEATURE, ON_NODES
from trainyard_rehearsal.checks.request_cases import RequestCase
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.nodes import nodes

_GROUPS = ("nfd.k8s-sigs.io", "nfd.openshift.io")
_REMEDIATIONS = "self-node-remediation.medik8s.io"
_NETWORKS = "sriovnetwork.openshift.io"
_MONITORS = "monitoring.rhobs"
_LOGINS = "operator.authorino.kuadrant.io"
RULES: tuple[tuple[str, list[str]], ...] = (
    ("", ["bindings", "pods/binding"]),
    *((group, ["nodefeatures"]) for group in _GROUPS),
    ("kubeflow.org", ["trials"]),
    (_MONITORS, ["monitoringstacks"]),
    (_LOGINS, ["authorinos"]),
    ("kiali.io", ["kialis"]),
    ("kuadrant.io", ["kuadrants"]),
    (_NETWORKS, ["*"]),
    (_REMEDIATIONS, ["*"]),
)
"""What OLM adds to the role `edit` for such operators, and what the account
of an Argo CD has in its own namespace."""


def feature_cases(
    site: Site, maker: Api, namespace: str, refusal: str = NODE_FEATURE
) -> Iterator[RequestCase]:
    """Yield new NodeFeatures, by which NFD labels a node."""
    for group in _GROUPS:
        body: Body = {
            "apiVersion": f"{group}/v1alpha1",
            "kind": "NodeFeature",
            "metadata": {"name": "rehearsal", "namespace": namespace},
            "spec": {"labels": {"example.com/mine": "x"}},
        }
        request = partial(maker.create, body, dry_run=True)
        yield RequestCase(
            f"{namespace}: a NodeFeature of {group}", request, site.cluster.at, refusal
        )


def operator_cases(
    site: Site, maker: Api, namespace: str, refusal: str = ON_NODES
) -> Iterator[RequestCase]:
    """Yield what reboots a node, deletes a network that it names, or reads in all namespaces."""
    last = {"operator.sriovnetwork.openshift.io/last-network-namespace": "team-nlp"}
    everywhere: Body = {"namespaceSelector": {}}
    for version, kind, given, spec in (
        (f"{_REMEDIATIONS}/v1alpha1", "SelfNodeRemediation", {}, {}),
        (f"{_NETWORKS}/v1", "SriovIBNetwork", last, {}),
        (f"{_MONITORS}/v1alpha1", "MonitoringStack", {}, everywhere),
        (f"{_LOGINS}/v1beta1", "Authorino", {}, {"clusterWide": True}),
        ("kiali.io/v1alpha1", "Kiali", {}, {}),
        ("kuadrant.io/v1beta1", "Kuadrant", {}, {}),
    ):
        metadata = {"name": "rehearsal", "namespace": namespace, "annotations": given}
        body: Body = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
        request = partial(maker.create, body, dry_run=True)
        yield RequestCase(f"{namespace}: a {kind}", request, site.cluster.at, refusal)


def own_operand_cases(site: Site, maker: Api, namespace: str) -> Iterator[RequestCase]:
    """Yield objects of the same operators that stay in their namespace."""
    for version, kind, spec in (
        (f"{_MONITORS}/v1alpha1", "MonitoringStack", {}),
        (f"{_LOGINS}/v1beta1", "Authorino", {"clusterWide": False}),
    ):
        metadata = {"name": "rehearsal", "namespace": namespace}
        body: Body = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
        request = partial(maker.create, body, dry_run=True)
        yield RequestCase(f"{namespace}: a {kind} of its own", request, site.cluster.at, "")


def binding_cases(
    site: Site, maker: Api, pod: Body, refusal: str = BINDING
) -> Iterator[RequestCase]:
    """Yield bindings of a pod to a node of a pool, by both addresses that the API has."""
    first = next(nodes(site))
    place = {key: pod["metadata"][key] for key in ("name", "namespace")}
    target = {"apiVersion": "v1", "kind": "Node", "name": first["metadata"]["name"]}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": place, "target": target}
    for request in (partial(maker.create, pod, "binding", body), partial(maker.create, body)):
        display = f"{place['namespace']}: {place['name']} bound to a node"
        yield RequestCase(display, partial(request, dry_run=True), site.cluster.at, refusal)
