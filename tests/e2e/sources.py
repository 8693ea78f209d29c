"""What has metrics on a control plane: objects as production has them, addresses of processes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.e2e.objects import identity_of
from tests.e2e.stage import Scene
from trainyard.golang import cache_folder
from trainyard.model.monitoring import OPENSHIFT, PROMETHEUS_OPERATOR
from trainyard.programs import AN_HOUR, run
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.processes import LOOPBACK

CONTROLLERS = ("jobset", "kueue", "trainer")
EXPORTERS = ("dcgm-exporter", "kube-state-metrics", "node-exporter")
MONITORING = {OPENSHIFT: "openshift-monitoring", PROMETHEUS_OPERATOR: "monitoring"}
"""Stack -> namespace of the Prometheus that scrapes the controllers, and of the exporters."""

_MONITORS = Path(__file__).parent / "monitors"
_FOLDERS = {
    "argocd": "base/application-controller",
    "jobset": "default",
    "kueue": "default",
    "trainer": "base/manager",
}
"""Component -> the folder, beside its other manifests, of its Service and its pods."""

_KINDS = ("Deployment", "Service", "StatefulSet")
_NODE = "control-plane"
_PORTS = {
    ("dcgm-exporter", OPENSHIFT): ("gpu-metrics", 9400),
    ("dcgm-exporter", PROMETHEUS_OPERATOR): ("gpu-metrics", 9400),
    ("kube-state-metrics", OPENSHIFT): ("https-main", 8443),
    ("kube-state-metrics", PROMETHEUS_OPERATOR): ("http", 8080),
    ("node-exporter", OPENSHIFT): ("https", 9100),
    ("node-exporter", PROMETHEUS_OPERATOR): ("http", 9100),
}
"""Exporter and stack -> name and number of its port."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of metrics.

    Args:
        ports: component -> port of the process that plays its pod.
        made: the objects that were created for them.
    """

    ports: Mapping[str, int]
    made: Sequence[Body]

    def reached(self, config: Body, component: str) -> Body:
        """Return a scrape configuration that reaches the process instead of its pod."""
        address = f"{LOOPBACK}:{self.ports[component]}"
        moved = [
            {
                "source_labels": ["instance", "__address__"],
                "regex": ";(.+)",
                "target_label": "instance",
            },
            {"target_label": "__address__", "replacement": address},
        ]
        # The proxy that encrypts an exporter's metrics on OpenShift is not here.
        scheme = "http" if component in EXPORTERS else config["scheme"]
        relabelings = [*config["relabel_configs"], *moved]
        # An exposition is served as a file, whose type is none of Prometheus'.
        text = {"fallback_scrape_protocol": "PrometheusText0.0.4"}
        return {**config, **text, "scheme": scheme, "relabel_configs": relabelings}


def stack_of(scene: Scene) -> str:
    """Return the stack that watches a cluster, whose profile has to name one."""
    assert scene.site.cluster.monitoring
    return scene.site.cluster.monitoring.stack


def monitors(scene: Scene) -> Iterator[tuple[str, Body]]:
    """Yield component and monitor of what runs: those of the tree, and those of other owners."""
    for manifest in scene.manifests:
        if manifest.kind.name in {"PodMonitor", "ServiceMonitor"}:
            component = manifest.name.removeprefix("trainyard-")
            if component != "argocd" or scene.stage.argocd:
                yield component, manifest.body
    text = (_MONITORS / f"{stack_of(scene)}.yaml").read_text("utf-8")
    for body in parse_manifests(text):
        assert isinstance(body, dict)
        component = body["metadata"]["labels"]["source"]
        if component != "argocd" or scene.stage.argocd:
            yield component, body


def deployed(scene: Scene, exporters: Mapping[str, int]) -> Sources:
    """Create the Services and pods of all sources.

    Args:
        scene: the applied tree.
        exporters: their ports.
    """
    stack = stack_of(scene)
    namespaces = {each.name: each.namespace for each in scene.site.cluster.sources}
    namespaces |= dict.fromkeys(EXPORTERS, MONITORING[stack])
    ports = {**{name: _port(name) for name in CONTROLLERS}, **exporters}
    if scene.stage.argocd:
        ports["argocd"] = scene.stage.argocd.metrics_port
    made = [_node()]
    for name in ports:
        scene.api.apply(_namespace(namespaces[name]))
        for body in _objects(scene, name):
            _adapt(body, namespaces[name])
            if stack == OPENSHIFT:
                _adapt_to_openshift(name, body)
            made.append(body)
    for body in made:
        scene.api.apply(body)
    return Sources(ports, made)


def remove(scene: Scene, sources: Sources) -> None:
    """Delete the objects of all sources, so that later tests see none of their pods."""
    node, *others = sources.made
    for body in others:
        scene.stage.delete(*identity_of(body))
    # KWOK ends no pod of a node that is gone, and Kubernetes itself takes a minute for it.
    assert scene.stage.until(partial(_is_empty, scene))
    scene.stage.delete(*identity_of(node))


def _is_empty(scene: Scene) -> bool:
    """Return whether no pod is left on the node of the sources."""
    return all(each["spec"].get("nodeName") != _NODE for each in scene.api.list("v1", "Pod"))


def _namespace(name: str) -> Body:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _node() -> Body:
    """Return a node without a taint: those of the pools take jobs only."""
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": _NODE,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"kubernetes.io/os": "linux"},
        },
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def _port(name: str) -> int:
    text = (cache_folder() / "run" / f"{name}.json").read_text("utf-8")
    return int(json.loads(text)["metrics"]["bindAddress"].rpartition(":")[2])


def _objects(scene: Scene, name: str) -> Iterator[Body]:
    """Yield the Services and workloads that a component's own installation has."""
    if name in EXPORTERS:
        yield from _exporter(name, *_PORTS[name, stack_of(scene)])
        return
    built = scene.lab.built
    folder = built.manifests[name] / _FOLDERS[name]
    shown = run([built.programs["kubectl"], "kustomize", folder], timeout=AN_HOUR).stdout
    for text in shown.split("\n---\n"):
        # Reading the CRDs too would take seconds.
        if any(f"\nkind: {kind}\n" in text for kind in _KINDS):
            (body,) = parse_manifests(text)
            assert isinstance(body, dict)
            yield body


def _exporter(name: str, port: str, number: int) -> Iterator[Body]:
    labels = {"app.kubernetes.io/component": "exporter", "app.kubernetes.io/name": name}
    metadata = {"name": name, "labels": labels}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"selector": labels, "ports": [{"name": port, "port": number}]},
    }
    ports = [{"name": port, "containerPort": number}]
    container = {"name": name, "image": f"{name}:pinned", "ports": ports}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    yield {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": dict(metadata),
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def _adapt(body: Body, namespace: str) -> None:
    """Put an object into the namespace of this release, with a pod that KWOK can run."""
    body["metadata"]["namespace"] = namespace
    if body["kind"] == "Service":
        return
    pod: dict[str, Any] = body["spec"]["template"]["spec"]
    # Its process runs already, with the account that the control plane has given to it.
    for field in ("serviceAccountName", "affinity", "initContainers", "volumes"):
        pod.pop(field, None)
    for container in pod["containers"]:
        container.pop("volumeMounts", None)


def _adapt_to_openshift(name: str, body: Body) -> None:
    """Change an object of upstream as the operator of OpenShift does, where its monitor needs it.

    opendatahub-io/trainer:manifests/rhoai@odh-3.5.0,
    redhat-developer/gitops-operator:controllers/argocd_metrics_controller.go@master (2026-08).
    """
    if name == "argocd" and body["kind"] == "Service":
        body["metadata"]["name"] = "openshift-gitops-metrics"
        body["metadata"]["labels"]["app.kubernetes.io/name"] = "openshift-gitops-metrics"
    if name == "trainer" and body["kind"] == "Deployment":
        template = body["spec"]["template"]
        for labels in (body["spec"]["selector"]["matchLabels"], template["metadata"]["labels"]):
            labels["app.kubernetes.io/component"] = "controller"
        template["spec"]["containers"][0]["ports"] = [{"name": "metrics", "containerPort": 8443}]
