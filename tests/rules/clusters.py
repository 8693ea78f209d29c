"""A cluster that has all that its tree needs, and changes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.facts.collect import of_dump
from trainyard.model.facts import Facts, Unread
from trainyard.model.live import AFTER, BEFORE, Live
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.pool import Pool
from trainyard.model.readable import NAMESPACES
from trainyard.render.site import render_site
from trainyard.rules.preflight.kind_not_served import BUILT_IN
from trainyard.workflows.facts import kueue_of, scope_of
from trainyard.yaml_io.emitter import emit

Body = dict[str, Any]
_CONTROLLERS = {
    "argocd": "argocd-application-controller",
    "jobset": "jobset-controller-manager",
    "kueue": "kueue-controller-manager",
    "trainer": "kubeflow-trainer-controller-manager",
}
_ANY = {"x-kubernetes-preserve-unknown-fields": True}


def live_of(
    platform: Platform,
    changes: Mapping[str, Any],
    phase: str | None = None,
    unread: Mapping[str, str] | None = None,
) -> Live:
    """Return the only cluster of a platform, with changes of its objects.

    Args:
        platform: with one cluster.
        changes: by kind, namespace and name; None deletes an object.
        phase: `BEFORE` by default.
        unread: reason by the name of the kind.
    """
    (site,) = platform.sites
    manifests = render_site(site)
    facts = facts_of(site, manifests, phase or BEFORE, changes, unread or {})
    return Live(site, phase or BEFORE, manifests, facts, kueue_of(facts))


def facts_of(
    site: Site,
    manifests: tuple[Manifest, ...],
    phase: str,
    changes: Mapping[str, Any],
    unread: Mapping[str, str],
) -> Facts:
    """Return the facts of a cluster."""
    known = {_key(body): body for body in objects_of(site, manifests, phase)}
    for key, change in changes.items():
        body = _merged(known.get(key, _new(key)), change)
        known = {each: old for each, old in known.items() if each != key}
        known |= {key: body} if body else {}
    dump = of_dump(known.values(), site.name, scope_of(site))
    reasons = tuple(Unread(name, why) for name, why in sorted(unread.items()))
    version = site.cluster.versions["kubernetes"]
    return Facts(
        site.name, "https://lab.example.com", f"{version}.1", reasons, dump.objects, dump.table
    )


def objects_of(site: Site, manifests: tuple[Manifest, ...], phase: str) -> Iterator[Body]:
    """Yield the objects that a tree needs; after the sync also those that it has."""
    live = Live(site, phase, manifests, Facts(site.name, "", "", (), ()), {})
    for pool in site.cluster.pools:
        yield from (node(pool, number) for number in range(pool.nodes))
    yield from crds(live.delivered, site)
    own = {each.name for each in live.made(NAMESPACES)}
    for namespace in sorted({each.namespace for each in live.delivered} - own - {""}):
        yield _object("v1", "Namespace", namespace)
    classes = {each.storage_class for each in site.cluster.storage} - {"", "trainyard-adopted"}
    yield from (_object("storage.k8s.io/v1", "StorageClass", each) for each in sorted(classes))
    yield from workloads(site)
    for manifest in manifests:
        if manifest.path == "operators/kueue-configuration.yaml":
            text = emit(manifest.body).decode()
            body = _object("v1", "ConfigMap", "kueue-manager-config", "kueue-system")
            yield {**body, "data": {"controller_manager_config.yaml": text}}
    if phase == AFTER:
        yield from synced(site, live.delivered)


def node(pool: Pool, number: int) -> Body:
    """Return a node as its pool's profile promises it."""
    levels = pool.topology.levels if pool.topology else ()
    labels = {**pool.labels, **dict.fromkeys(levels, "leaf-0")}
    taint = {"key": pool.hardware.taint, "effect": "NoSchedule", "value": "true"}
    return {
        **_object("v1", "Node", f"{pool.name}-{number}", labels=labels),
        "spec": {"taints": [taint]},
        "status": {"allocatable": pool.allocatable_quantities},
    }


def crds(manifests: list[Manifest], site: Site) -> Iterator[Body]:
    """Yield a CRD of each kind of a tree, which takes any value of the fields that it has."""
    fields: dict[tuple[str, str, str], dict[str, Any]] = {}
    for manifest in manifests:
        group, _, version = manifest.body["apiVersion"].rpartition("/")
        if group not in BUILT_IN:
            keys = dict.fromkeys(manifest.body, _ANY)
            fields.setdefault((group, version, manifest.kind.name), {}).update(keys)
    for (group, version, kind), properties in sorted(fields.items()):
        plural = site.cluster.release.plural(group, kind)
        (scope,) = {
            "Namespaced" if each.namespace else "Cluster"
            for each in manifests
            if (each.kind.group, each.kind.name) == (group, kind)
        }
        schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
        yield {
            **_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}"),
            "spec": {
                "group": group,
                "names": {"kind": kind, "plural": plural},
                "scope": scope,
                "versions": [{"name": version, "served": True, "schema": schema}],
            },
        }


def workloads(site: Site) -> Iterator[Body]:
    """Yield the controllers, in the versions of the profile."""
    for source in site.cluster.sources:
        if source.name in _CONTROLLERS:
            name = _CONTROLLERS[source.name]
            version = site.cluster.versions[source.name]
            image = f"registry.example.com/{source.name}:v{version}.1"
            kind = "StatefulSet" if source.name == "argocd" else "Deployment"
            container = {"name": "manager", "image": image}
            yield {
                **_object("apps/v1", kind, name, source.namespace),
                "spec": {"template": {"spec": {"containers": [container]}}},
                "status": {"availableReplicas": 1},
            }


def synced(site: Site, manifests: list[Manifest]) -> Iterator[Body]:
    """Yield the objects of a tree as controllers leave them."""
    healthy = {"sync": {"status": "Synced"}, "health": {"status": "Healthy"}}
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    states = {"Application": healthy, "ClusterQueue": active, "LocalQueue": active}
    for manifest in manifests:
        yield {**manifest.body, "status": states.get(manifest.kind.name, {})}
    for tenant in site.tenants:
        namespace = site.cluster.argocd_namespace
        body = _object("argoproj.io/v1alpha1", "Application", tenant.application, namespace)
        yield {**body, "status": healthy}


def _object(
    version: str, kind: str, name: str, namespace: str = "", labels: Mapping[str, str] | None = None
) -> Body:
    place = {"namespace": namespace} if namespace else {}
    metadata = {"name": name, **place, "labels": dict(labels or {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _key(body: Body) -> str:
    metadata = body["metadata"]
    return "/".join(filter(None, (body["kind"], metadata.get("namespace", ""), metadata["name"])))


def _new(key: str) -> Body:
    kind, *place, name = key.split("/")
    return _object("", kind, name, "".join(place))


def _merged(base: Any, change: Any) -> Any:
    if not isinstance(change, dict):
        return change
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in change.items():
        result[key] = _merged(result.get(key), value)
    return {key: value for key, value in result.items() if value is not None}
