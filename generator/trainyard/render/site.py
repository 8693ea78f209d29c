"""One site to its manifests: the catalog, template by template."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from trainyard.model.cluster import Cluster
from trainyard.model.manifest import Kind, Manifest, kind_of
from trainyard.model.platform import Site
from trainyard.model.readable import SYNC_OPTIONS
from trainyard.model.space import Sample
from trainyard.render.attributes import read
from trainyard.render.catalog import CATALOG, DELIVERY, Entry, Subject
from trainyard.render.delivery import Delivery, Unit
from trainyard.render.scopes import Scope
from trainyard.render.templates import read_kind, read_lines, template

COMPONENTS_ROOT = "../profiles/components"
"""Path of the hand-written components relative to the tree, in the layout that `trainyard init`
writes."""

_UNITS = {
    "platform": "queues, runtimes, networks, policies, roles",
    "nodes": "what drains and reboots them",
}
"""Units of the cluster itself, and what they hold."""


def render_site(site: Site, components_root: str = COMPONENTS_ROOT) -> tuple[Manifest, ...]:
    """Return every object of a site, by path.

    The delivery comes last: what Argo CD may touch follows from what is there.

    Args:
        site: the cluster with its teams.
        components_root: path of the hand-written components relative to the tree.
    """
    shared: dict[str, object] = {"cluster": site.cluster, "site": site}
    manifests: list[Manifest] = []
    for entry in _entries(site.cluster):
        manifests.extend(_render(entry, site, site.cluster, shared))
    delivery = _delivery(site, manifests, components_root)
    shared["delivery"] = delivery
    for delivered in DELIVERY:
        manifests.extend(_render(delivered, delivery, site.cluster, shared))
    return tuple(sorted(manifests, key=lambda manifest: manifest.path))


def render_sample(sample: Sample) -> dict[str, Any]:
    """Return a TrainJob, of the samples' template."""
    scope = {"cluster": sample.space.cluster, "sample": sample}
    body: dict[str, Any] = template("samples/train-job")(scope)
    return body


def _render(
    entry: Entry[Subject], subject: Subject, cluster: Cluster, shared: dict[str, object]
) -> Iterator[Manifest]:
    build = template(entry.template)
    for scope in entry.scopes(subject):
        body = build({**shared, **scope.variables})
        if cluster.adoption.takes(body):
            body = _kept(body)
        path = f"{entry.folder(cluster, scope)}/{_file_name(entry, scope, body)}.yaml"
        yield Manifest(path, body, scope.files, scope.at)


def _kept(body: dict[str, Any]) -> dict[str, Any]:
    """Return an object that Argo CD never prunes, and deletes only when a person confirms it."""
    metadata = body["metadata"]
    annotations = metadata.get("annotations", {})
    stated = annotations.get(SYNC_OPTIONS, "").split(",")
    others = [each for each in stated if each and each.partition("=")[0] not in {"Prune", "Delete"}]
    options = ",".join([*others, "Prune=false", "Delete=confirm"])
    return {**body, "metadata": {**metadata, "annotations": {**annotations, SYNC_OPTIONS: options}}}


def _file_name(entry: Entry[Subject], scope: Scope, body: dict[str, Any]) -> str:
    """Return what a file is called: the kind and name of its object, or its template.

    A sample's file is in a folder of its team and leaves the team's name out. In a team's unit
    objects of its further namespaces may have one name. RBAC names may hold colons, which some file
    systems refuse.
    """
    if "metadata" not in body:
        return "-".join(filter(None, (scope.name, entry.template.rpartition("/")[2])))
    name = str(body["metadata"]["name"]).replace(":", "-")
    if entry.template.startswith("samples/"):
        return name.removeprefix(f"{scope.team}-")
    space = (
        scope.name if "namespace" in body["metadata"] and entry.template.startswith("team/") else ""
    )
    return "-".join(filter(None, (body["kind"].lower(), space, name)))


def _delivery(site: Site, manifests: Sequence[Manifest], components_root: str) -> Delivery:
    cluster = site.cluster
    roles: set[str] = set()
    bound: set[str] = set()
    for manifest in manifests:
        if manifest.body["kind"] == "ClusterRole":
            roles.add(manifest.name)
        elif "roleRef" in manifest.body:
            bound.add(manifest.body["roleRef"]["name"])
    return Delivery(
        site,
        units=tuple(_units(site)),
        team=kinds_of(cluster, "team") | _component_kinds(cluster),
        roles=frozenset(roles),
        bound=frozenset(bound),
        components=_in_repository(cluster.settings.path, components_root),
    )


def _units(site: Site) -> Iterator[Unit]:
    """Yield the units of the cluster itself."""
    cluster = site.cluster
    for name, holds in _UNITS.items():
        if name != "nodes" or cluster.has_node_unit:
            yield Unit(site, name, holds, kinds_of(cluster, name), _namespaces(cluster, name))


def _component_kinds(cluster: Cluster) -> set[Kind]:
    """Return the kinds that a hand-written component may have."""
    return {
        kind_of({"apiVersion": version, "kind": kind, "metadata": {"namespace": ""}})
        for kind, version in cluster.release.component_kinds.items()
    }


def _in_repository(path: str, components_root: str) -> str:
    """Return the components' folder from the repository's root, e.g. ``/profiles/components``.

    A tree outside the repository, which is only for reading, gets the usual folder.
    """
    folder = posixpath.normpath(f"{path}/{components_root}")
    if folder.startswith("../"):
        folder = posixpath.normpath(f"{path}/{COMPONENTS_ROOT}")
    return f"/{folder}"


def kinds_of(cluster: Cluster, *units: str) -> frozenset[Kind]:
    """Return every kind that some units may have, or all units, whether an object has it or not.

    A list of what is there would narrow with the last object of a kind, and Argo CD prunes nothing
    that its project does not permit (seen with Argo CD 3.5.7: it stays, and the Application is
    Synced).
    """
    return frozenset(read_kind(entry.template) for entry in _entries(cluster, *units))


def _namespaces(cluster: Cluster, unit: str) -> tuple[str, ...]:
    """Return every namespace that a unit may write into; ours if all its kinds are cluster-wide."""
    namespaces: set[str] = set()
    for entry in _entries(cluster, unit):
        if mark := read_lines(entry.template).get("  namespace"):
            path = mark.strip("{ }").split(".")[1:]
            namespaces.add(str(reduce(read, path, cluster)))
    return tuple(sorted(namespaces or {cluster.system_namespace}))


def _entries(cluster: Cluster, *units: str) -> Iterator[Entry[Site]]:
    for entry in CATALOG:
        if entry.concerns(cluster) and (not units or entry.unit(cluster) in units):
            yield entry
