"""One site to its manifests: the catalog, template by template."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from generator.model.delivery import Delivery
from generator.model.manifest import Kind, Manifest, kind_of
from generator.model.platform import Site
from generator.model.release import Release
from generator.render.catalog import CATALOG, DELIVERY, Entry, Scope, Subject
from generator.render.compile import Build, compile_template

COMPONENTS_ROOT = "../profiles/components"
"""Path of the hand-written components relative to the tree, in the layout that `trainyard init` writes."""

_PACKAGE = Path(__file__).resolve().parent.parent


def templates_folder() -> Path:
    """Return templates/: inside an installed package, or beside it in a checkout."""
    packaged = _PACKAGE / "templates"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "templates"


@cache
def template(name: str) -> Build:
    """Return a template, compiled once."""
    return compile_template(_text(name), f"templates/{name}.yaml.j2")


def _text(name: str) -> str:
    return (templates_folder() / f"{name}.yaml.j2").read_text(encoding="utf-8")


@cache
def _kind(name: str) -> Kind:
    """Return the kind of what a template makes: its first lines name it, no variable does."""
    lines = _text(name).splitlines()
    said = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
    namespace = {"namespace": ""} if any(line.startswith("  namespace:") for line in lines) else {}
    return kind_of({"apiVersion": said["apiVersion"], "kind": said["kind"], "metadata": namespace})


def render_site(site: Site, components_root: str = COMPONENTS_ROOT) -> tuple[Manifest, ...]:
    """Return every object of a site, by path.

    The delivery comes last: what Argo CD may touch follows from what is there.

    Args:
        site: the cluster with its teams.
        components_root: path of the hand-written components relative to the tree.
    """
    shared: dict[str, object] = {"cluster": site.cluster, "site": site}
    features = {"", *site.cluster.release.features}
    entries = (entry for entry in CATALOG if entry.feature in features)
    manifests = [manifest for entry in entries for manifest in _render(entry, site, shared)]
    delivery = _delivery(site, manifests, components_root)
    for delivered in DELIVERY:
        manifests.extend(_render(delivered, delivery, {**shared, "delivery": delivery}))
    return tuple(sorted(manifests, key=lambda manifest: manifest.path))


def _render(entry: Entry[Subject], subject: Subject, shared: dict[str, object]) -> Iterator[Manifest]:
    build = template(entry.template)
    for scope in entry.scopes(subject):
        body = build({**shared, **scope.variables})
        path = f"{entry.folder(scope)}/{_file_name(entry, scope, body)}.yaml"
        yield Manifest(path, body, scope.files, scope.at)


def _file_name(entry: Entry[Subject], scope: Scope, body: dict[str, Any]) -> str:
    """Return what a file is called: the kind and name of its object, or its template.

    In a team's unit objects of its further namespaces may have one name. RBAC names may hold colons, which some file
    systems refuse.
    """
    if "metadata" not in body:
        return "-".join(filter(None, (scope.name, entry.template.rpartition("/")[2])))
    name = body["metadata"]["name"].replace(":", "-")
    space = scope.name if "namespace" in body["metadata"] and entry.folder(scope).startswith("teams/") else ""
    return "-".join(filter(None, (body["kind"].lower(), space, name)))


def _delivery(site: Site, manifests: Sequence[Manifest], components_root: str) -> Delivery:
    release = site.cluster.release
    namespaces = {manifest.namespace for manifest in manifests if manifest.unit == "platform"}
    components = {
        kind_of({"apiVersion": version, "kind": kind, "metadata": {"namespace": ""}})
        for kind, version in release.component_kinds.items()
    }
    return Delivery(
        site,
        kinds_of(release, "platform"),
        tuple(sorted({*namespaces, release.sriov_namespace, release.ipam_namespace} - {""})),
        kinds_of(release, "team") | components,
        frozenset(manifest.name for manifest in manifests if manifest.body["kind"] == "ClusterRole"),
        frozenset(manifest.body["roleRef"]["name"] for manifest in manifests if "roleRef" in manifest.body),
        _in_repository(site.cluster.settings.path, components_root),
    )


def _in_repository(path: str, components_root: str) -> str:
    """Return the components' folder from the root of the Git repository, e.g. ``/profiles/components``.

    A tree that is written outside the repository, to look at it, is told of the usual folder.
    """
    folder = posixpath.normpath(f"{path}/{components_root}")
    return f"/{posixpath.normpath(f'{path}/{COMPONENTS_ROOT}') if folder.startswith('../') else folder}"


def kinds_of(release: Release, *units: str) -> frozenset[Kind]:
    """Return every kind that some units may have on a release, whether or not an object has it now; all without units.

    A list of what is there would narrow with the last object of a kind, and Argo CD prunes nothing that its project
    does not permit (seen with Argo CD 3.5.7: it stays, and the Application is Synced).
    """
    features = {"", *release.features}
    entries = (entry for entry in CATALOG if entry.feature in features)
    templates = (entry.template for entry in entries)
    return frozenset(_kind(name) for name in templates if not units or name.partition("/")[0] in units)
