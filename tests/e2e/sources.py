"""What has metrics on a control plane: objects as production has them, addresses of processes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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

MONITORING = {OPENSHIFT: "openshift-monitoring", PROMETHEUS_OPERATOR: "monitoring"}
"""Stack -> namespace of the Prometheus that scrapes the controllers, and of kube-state-metrics."""

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


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of metrics, by namespace.

    Args:
        ports: namespace -> port of the process that plays its pod.
        plain: namespaces whose proxy for TLS is not here.
        made: the objects that were created for them.
    """

    ports: Mapping[str, int]
    plain: frozenset[str]
    made: Sequence[Body]

    def reached(self, config: Body) -> Body:
        """Return a scrape configuration that reaches the process instead of its pod."""
        (namespace,) = config["kubernetes_sd_configs"][0]["namespaces"]["names"]
        moved = [
            {"source_labels": ["__address__"], "target_label": "instance"},
            {
                "target_label": "__address__",
                "replacement": f"{LOOPBACK}:{self.ports[namespace]}",
            },
        ]
        scheme = "http" if namespace in self.plain else config["scheme"]
        return {
            **config,
            "scheme": scheme,
            "relabel_configs": [*config["relabel_configs"], *moved],
        }


def stack_of(scene: Scene) -> str:
    """Return the stack that watches a cluster, whose profile has to name one."""
    assert scene.site.cluster.monitoring
    return scene.site.cluster.monitoring.stack


def monitors(scene: Scene) -> Iterator[Body]:
    """Yield the monitors of the tree, and those of other owners; of Argo CD only if it runs."""
    stack = stack_of(scene)
    text = (_MONITORS / f"{stack}.yaml").read_text("utf-8")
    found = [each.body for each in scene.manifests if each.kind.name.endswith("Monitor")]
    found += [body for body in parse_manifests(text) if isinstance(body, dict)]
    for body in found:
        at_argocd = body["metadata"]["name"] in {"openshift-gitops", "trainyard-argocd"}
        if scene.stage.argocd or not at_argocd:
            yield body


def deployed(scene: Scene, kube_state_metrics: int) -> Sources:
    """Create the Services and pods of all sources, and return where their processes are."""
    stack = stack_of(scene)
    namespaces = {each.name: each.namespace for each in scene.site.cluster.sources}
    namespaces["kube-state-metrics"] = MONITORING[stack]
    ports = {name: _port(name) for name in ("jobset", "kueue", "trainer")}
    ports["kube-state-metrics"] = kube_state_metrics
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
    by_namespace = {namespaces[name]: port for name, port in ports.items()}
    return Sources(by_namespace, frozenset(MONITORING.values()), made)


def remove(scene: Scene, sources: Sources) -> None:
    """Delete the objects of all sources, so that later tests see none of their pods."""
    for body in sources.made[::-1]:
        scene.stage.delete(*identity_of(body))


def _namespace(name: str) -> Body:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _node() -> Body:
    """Return a node without a taint: the pools' own take jobs only."""
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": _NODE, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def _port(name: str) -> int:
    text = (cache_folder() / "run" / f"{name}.json").read_text("utf-8")
    return int(json.loads(text)["metrics"]["bindAddress"].rpartition(":")[2])


def _objects(scene: Scene, name: str) -> Iterator[Body]:
    """Yield the Services and workloads that a component's own installation has."""
    if name == "kube-state-metrics":
        yield from _kube_state_metrics(scene)
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


def _kube_state_metrics(scene: Scene) -> Iterator[Body]:
    openshift = stack_of(scene) == OPENSHIFT
    labels = {
        "app.kubernetes.io/component": "exporter",
        "app.kubernetes.io/name": "kube-state-metrics",
    }
    port = {"name": "https-main" if openshift else "http", "port": 8443 if openshift else 8080}
    metadata = {"name": "kube-state-metrics", "labels": labels}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"selector": labels, "ports": [port]},
    }
    container = {"name": "kube-state-metrics", "image": "kube-state-metrics:v2.18.0"}
    ports = [{"name": port["name"], "containerPort": port["port"]}]
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{**container, "ports": ports}]},
    }
    yield {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
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
