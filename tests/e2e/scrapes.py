"""Scrape configurations of ServiceMonitors and PodMonitors, as prometheus-operator writes them.

After prometheus-operator/prometheus-operator:pkg/prometheus/promcfg.go, an older version, and
from memory. Without sharding, and without what our monitors and those of operators do not use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainyard_rehearsal.control_plane.api import Body

_ROLES = {"PodMonitor": "pod", "ServiceMonitor": "endpoints"}
_ENDPOINTS = {"PodMonitor": "podMetricsEndpoints", "ServiceMonitor": "endpoints"}
_OTHER = re.compile(r"[^a-zA-Z0-9_]")


@dataclass(frozen=True, slots=True)
class Discovery:
    """How Prometheus reaches the API server, and the file with its token there and at targets."""

    server: str
    authority: str
    token: str


def scrape_configs(monitor: Body, discovery: Discovery) -> Iterator[Body]:
    """Yield a scrape configuration for each endpoint of a monitor."""
    metadata, kind = monitor["metadata"], monitor["kind"]
    for number, endpoint in enumerate(monitor["spec"][_ENDPOINTS[kind]]):
        config: Body = {
            "job_name": f"{_camel(kind)}/{metadata['namespace']}/{metadata['name']}/{number}",
            "honor_labels": endpoint.get("honorLabels", False),
            "follow_redirects": endpoint.get("followRedirects", True),
            "metrics_path": endpoint.get("path", "/metrics"),
            "scheme": endpoint.get("scheme", "http"),
            "kubernetes_sd_configs": [_discovered(monitor, discovery)],
            "relabel_configs": [*_relabelings(monitor, endpoint)],
            **_limits(monitor["spec"]),
            "metric_relabel_configs": [*map(_snake, endpoint.get("metricRelabelings", ()))],
        }
        if endpoint.get("bearerTokenFile"):
            config["authorization"] = {"type": "Bearer", "credentials_file": discovery.token}
        if config["scheme"] == "https":
            # The certificates of production are not here: each controller has one of this run.
            config["tls_config"] = {"insecure_skip_verify": True}
        yield config


def _limits(spec: Body) -> Body:
    """Return what one scrape may bring at most."""
    return {
        name: spec[field]
        for field, name in {
            "bodySizeLimit": "body_size_limit",
            "labelLimit": "label_limit",
            "labelNameLengthLimit": "label_name_length_limit",
            "labelValueLengthLimit": "label_value_length_limit",
            "sampleLimit": "sample_limit",
        }.items()
        if field in spec
    }


def _camel(kind: str) -> str:
    return kind[0].lower() + kind[1:]


def _discovered(monitor: Body, discovery: Discovery) -> Body:
    selector = monitor["spec"].get("namespaceSelector", {})
    return {
        "role": _ROLES[monitor["kind"]],
        "api_server": discovery.server,
        "tls_config": {"ca_file": discovery.authority},
        "authorization": {"type": "Bearer", "credentials_file": discovery.token},
        "namespaces": {"names": selector.get("matchNames", [monitor["metadata"]["namespace"]])},
    }


def _relabelings(monitor: Body, endpoint: Body) -> Iterator[Body]:
    if monitor["kind"] == "PodMonitor":
        yield from _of_pods(monitor, endpoint)
    else:
        yield from _of_services(monitor, endpoint)
    yield from map(_snake, endpoint.get("relabelings", ()))


def _of_services(monitor: Body, endpoint: Body) -> Iterator[Body]:
    yield from _selected(monitor, "service")
    yield _keep("__meta_kubernetes_endpoint_port_name", endpoint["port"])
    for kind, label in (("Node", "node"), ("Pod", "pod")):
        target = "__meta_kubernetes_endpoint_address_target_"
        yield {
            "source_labels": [f"{target}kind", f"{target}name"],
            "separator": ";",
            "regex": f"{kind};(.*)",
            "replacement": "${1}",
            "target_label": label,
        }
    yield _copied("namespace", "namespace")
    yield _copied("service_name", "service")
    yield _copied("pod_name", "pod")
    yield _copied("pod_container_name", "container")
    yield _without_ended_pods()
    yield _copied("service_name", "job")
    if by := monitor["spec"].get("jobLabel"):
        yield {**_copied(f"service_label_{_label(by)}", "job"), "regex": "(.+)"}
    yield {"target_label": "endpoint", "replacement": endpoint["port"]}


def _of_pods(monitor: Body, endpoint: Body) -> Iterator[Body]:
    metadata = monitor["metadata"]
    yield _without_ended_pods()
    yield from _selected(monitor, "pod")
    by = "name" if "port" in endpoint else "number"
    port = str(endpoint.get("port") or endpoint.get("portNumber", ""))
    if port:
        yield _keep(f"__meta_kubernetes_pod_container_port_{by}", port)
    yield _copied("namespace", "namespace")
    yield _copied("pod_container_name", "container")
    yield _copied("pod_name", "pod")
    for key in monitor["spec"].get("podTargetLabels", ()):
        copied = _copied(f"pod_label_{_label(key)}", _label(key))
        yield {**copied, "regex": "(.+)", "replacement": "${1}"}
    yield {"target_label": "job", "replacement": f"{metadata['namespace']}/{metadata['name']}"}
    if by == "name":
        yield {"target_label": "endpoint", "replacement": port}


def _selected(monitor: Body, what: str) -> Iterator[Body]:
    selector = monitor["spec"]["selector"]
    for expression in selector.get("matchExpressions", ()):
        assert expression["operator"] == "Exists"
        present = f"__meta_kubernetes_{what}_labelpresent_{_label(expression['key'])}"
        yield _keep(present, "true")
    for key, value in sorted(selector.get("matchLabels", {}).items()):
        name = _label(key)
        yield {
            "action": "keep",
            "source_labels": [
                f"__meta_kubernetes_{what}_label_{name}",
                f"__meta_kubernetes_{what}_labelpresent_{name}",
            ],
            "regex": f"({value});true",
        }


def _keep(label: str, value: str) -> Body:
    return {"action": "keep", "source_labels": [label], "regex": value}


def _copied(source: str, target: str) -> Body:
    return {"source_labels": [f"__meta_kubernetes_{source}"], "target_label": target}


def _without_ended_pods() -> Body:
    label = "__meta_kubernetes_pod_phase"
    return {"action": "drop", "source_labels": [label], "regex": "(Failed|Succeeded)"}


def _label(key: str) -> str:
    return _OTHER.sub("_", key)


def _snake(relabeling: Body) -> dict[str, Any]:
    """Return a monitor's own relabeling in the words of Prometheus' configuration."""
    return {re.sub("([A-Z])", r"_\1", key).lower(): each for key, each in relabeling.items()}
