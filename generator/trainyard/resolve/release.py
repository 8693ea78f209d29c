"""Resolve releases: those that are shipped, and those of the repository, whose shape is right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.derived import DerivedName
from trainyard.model.dns import Dns
from trainyard.model.monitoring import MetricSource, Scrape
from trainyard.model.other_release import OtherRelease
from trainyard.model.release import Changes, KnownBad, Release, Schemas, Threshold
from trainyard.yaml_io.source import ReleaseFolder, Source


def resolve_release(
    name: str, source: Source, plurals: Source, folder: ReleaseFolder | None = None
) -> Release:
    """Return a release whose file has every field; without a folder, one that is shipped."""
    fields, at = source.value, Pointer(source.file)
    return Release(
        name=name,
        at=at,
        tested=fields["tested"],
        versions=fields["versions"],
        brought_by=fields["broughtBy"],
        sdk=fields["sdk"],
        features=frozenset(fields["features"]),
        sriov_namespace=fields["sriovNamespace"],
        resource_prefix=fields["resourcePrefix"],
        ipam=fields["ipam"]["plugin"],
        ipam_namespace=fields["ipam"].get("namespace", ""),
        argocd_namespace=fields["argocd"]["namespace"],
        argocd_account=fields["argocd"]["account"],
        namespace_labels=fields["namespaceLabels"],
        dns=Dns(at / "dns", fields["dns"]["namespace"], {}, tuple(fields["dns"]["ports"])),
        workspace_ingress=tuple(fields["workspaceIngress"]),
        metrics={name: _source(name, each) for name, each in fields["metrics"].items()},
        controllers=tuple(fields["controllers"]),
        system_namespaces=tuple(fields["systemNamespaces"]),
        gpu_namespace=fields["gpuNamespace"],
        derived_names=tuple(_derived_names(fields["derivedNames"])),
        groups_podsets=fields["groupsPodsets"],
        job_scc=fields.get("jobScc", ""),
        pod_ids=fields.get("podIds", {}),
        display_name_key=fields.get("displayNameKey", ""),
        component_kinds=fields["componentKinds"],
        most_flavors=fields["queueLimits"]["flavors"],
        most_resources=fields["queueLimits"]["resources"],
        known_bad=tuple(_known_bad(fields)),
        changes={name: Changes(**each) for name, each in fields["changes"].items()},
        thresholds=tuple(Threshold(**each) for each in fields["thresholds"]),
        external=fields["external"],
        plurals=plurals.value,
        schemas=_schemas(name, folder),
    )


def _schemas(name: str, folder: ReleaseFolder | None) -> Schemas:
    return Schemas(folder.base, folder.schemas, folder.digest) if folder else Schemas(name)


def resolve_others(source: Source) -> tuple[OtherRelease, ...]:
    """Return the versions of products that no release is for, in the order of their file."""
    return tuple(
        OtherRelease(
            each["product"],
            each.get("from", ""),
            each.get("below", ""),
            each["reason"],
            each["instead"],
        )
        for each in source.value["others"]
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


def _derived_names(groups: Iterable[Mapping[str, Any]]) -> Iterator[DerivedName]:
    for each in groups:
        for kind, names in each["names"].items():
            for name in names:
                yield DerivedName(each["by"], each["of"], kind, name, each["taken"], each["source"])


def _known_bad(fields: Mapping[str, Any]) -> Iterator[KnownBad]:
    """Yield the faults that a release with its features can have."""
    bad = map(_fault, fields["knownBad"])
    yield from (each for each in bad if each.concerns(frozenset(fields["features"])))


def _fault(fields: Mapping[str, Any]) -> KnownBad:
    versions = {
        component: (bounds.get("from", ""), bounds.get("below", ""))
        for component, bounds in fields["versions"].items()
    }
    return KnownBad(
        versions, fields.get("with", ""), fields.get("without", ""), fields["consequence"]
    )
