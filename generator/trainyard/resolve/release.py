"""Resolve the shipped releases. They are our own files: a mistake in one is a bug."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.monitoring import MetricSource, Scrape
from trainyard.model.release import Dns, KnownBad, Release
from trainyard.yaml_io.source import Source


def resolve_release(name: str, source: Source, plurals: Source) -> Release:
    """Return a release; a test checks its files, so every field is there."""
    fields = source.value
    return Release(
        name=name,
        at=Pointer(source.file),
        versions=fields["versions"],
        sdk=fields["sdk"],
        features=frozenset(fields["features"]),
        sriov_namespace=fields["sriovNamespace"],
        resource_prefix=fields["resourcePrefix"],
        ipam=fields["ipam"]["plugin"],
        ipam_namespace=fields["ipam"].get("namespace", ""),
        argocd_namespace=fields["argocd"]["namespace"],
        argocd_account=fields["argocd"]["account"],
        namespace_labels=fields["namespaceLabels"],
        dns=Dns(fields["dns"]["namespace"], tuple(fields["dns"]["ports"])),
        workspace_ingress=tuple(fields["workspaceIngress"]),
        metrics={name: _source(name, each) for name, each in fields["metrics"].items()},
        controllers=tuple(fields["controllers"]),
        system_namespaces=tuple(fields["systemNamespaces"]),
        driver_namespaces=tuple(fields["driverNamespaces"]),
        reserved_config_maps=tuple(fields["reservedConfigMaps"]),
        controller_config_maps={
            name: each["owner"] for each in fields["controllerConfigMaps"] for name in each["names"]
        },
        isolates_jobs=fields["isolatesJobs"],
        groups_podsets=fields["groupsPodsets"],
        job_scc=fields.get("jobScc", ""),
        pod_ids=fields.get("podIds", {}),
        display_name_key=fields.get("displayNameKey", ""),
        component_kinds=fields["componentKinds"],
        most_flavors=fields["queueLimits"]["flavors"],
        most_resources=fields["queueLimits"]["resources"],
        known_bad=tuple(map(_known_bad, fields["knownBad"])),
        external=fields["external"],
        plurals=plurals.value,
    )


def _source(name: str, fields: Mapping[str, Any]) -> MetricSource:
    """Return where a component's metrics are, and how we have them scraped."""
    stated = fields.get("scrape")
    if stated is None:
        return MetricSource(name, fields.get("namespace", ""))
    pods = "pods" in stated
    scrape = Scrape(
        labels=stated["pods" if pods else "service"],
        pods=pods,
        port=stated["port"],
        scheme=stated["scheme"],
        token=stated.get("token", False),
    )
    return MetricSource(name, fields.get("namespace", ""), scrape)


def _known_bad(fields: Mapping[str, Any]) -> KnownBad:
    versions = {
        component: (bounds.get("from", ""), bounds.get("below", ""))
        for component, bounds in fields["versions"].items()
    }
    return KnownBad(versions, fields["consequence"])
