"""Check that Argo CD may write each unit's objects: its AppProject must permit them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from trainyard.diagnostics import Diagnostic, Step
from trainyard.model.lookup import EVERY, lookup, mapping
from trainyard.model.manifest import Manifest
from trainyard.references.index import Index
from trainyard.references.names import Use
from trainyard.rules.delivery.kind_not_permitted import RULE as KIND_NOT_PERMITTED
from trainyard.rules.delivery.namespace_not_permitted import RULE as NAMESPACE_NOT_PERMITTED


@dataclass(frozen=True, slots=True)
class Delivered:
    """A unit and the application that delivers it.

    Args:
        unit: folder below the cluster's.
        project: name of the AppProject, the team filled in.
        path: of the project's name in the application.
    """

    application: Manifest
    unit: str
    project: str
    path: tuple[Step, ...]

    @property
    def use(self) -> Use:
        """The project, as a name that the application uses."""
        return Use("AppProject", self.application.namespace, self.project, self.path)


def find_delivered(index: Index, units: dict[str, list[Manifest]]) -> Iterator[Delivered]:
    """Yield the application that delivers each unit."""
    yield from _by_application(index, units)
    yield from _by_application_set(index, units)


def _by_application(index: Index, units: Iterable[str]) -> Iterator[Delivered]:
    for application in index.kinds.get("Application", ()):
        spec = mapping(application.body, "spec")
        path = mapping(spec, "source").get("path")
        for unit in units:
            if index.site.folder(unit) == path:
                project = str(spec.get("project", ""))
                yield Delivered(application, unit, project, ("spec", "project"))


def _by_application_set(index: Index, units: Iterable[str]) -> Iterator[Delivered]:
    folders = ("spec", "generators", EVERY, "git", "directories", EVERY, "path")
    for generated in index.kinds.get("ApplicationSet", ()):
        template = str(mapping(generated.body, "spec", "template", "spec").get("project", ""))
        globs = [str(glob) for _, glob in lookup(generated.body, folders)]
        for unit in units:
            folder = index.site.folder(unit)
            if any(_matches(folder, glob) for glob in globs):
                project = template.replace("{{.path.basename}}", unit.rpartition("/")[2])
                yield Delivered(generated, unit, project, ("spec", "template", "spec", "project"))


def _matches(folder: str, glob: str) -> bool:
    return folder.count("/") == glob.count("/") and fnmatchcase(folder, glob)


def check_unit(
    delivered: Delivered, project: dict[str, Any], objects: list[Manifest]
) -> Iterator[Diagnostic]:
    """Yield the objects of a unit that its AppProject does not permit."""
    cluster_wide = _listed(project, "clusterResourceWhitelist")
    namespaced = _listed(project, "namespaceResourceWhitelist")
    namespaces = {
        str(name) for _, name in lookup(project, ("spec", "destinations", EVERY, "namespace"))
    }
    for manifest in objects:
        kind = manifest.kind
        listed = namespaced if kind.namespaced else cluster_wide
        if listed.isdisjoint(_entries(manifest)):
            message = (
                f"{manifest.display}: {kind.name} `{manifest.name}` is not permitted in "
                f"AppProject `{delivered.project}`"
            )
            yield KIND_NOT_PERMITTED.at(manifest.place(("kind",)), message)
        if kind.namespaced and manifest.namespace not in namespaces:
            message = (
                f"{manifest.display}: namespace `{manifest.namespace}` is not one of AppProject "
                f"`{delivered.project}`"
            )
            yield NAMESPACE_NOT_PERMITTED.at(manifest.place(("metadata", "namespace")), message)


def _entries(manifest: Manifest) -> set[tuple[str, str, str]]:
    """Return the entries of an AppProject that permit an object; cluster-wide ones may be named."""
    kind = manifest.kind
    every = (kind.group, kind.name, "")
    return {every} if kind.namespaced else {every, (kind.group, kind.name, manifest.name)}


def _listed(project: dict[str, Any], field: str) -> set[tuple[str, str, str]]:
    """Return group, kind and name of what a project permits; an empty name is any."""
    permitted = set()
    for _, item in lookup(project, ("spec", field, EVERY)):
        fields = mapping(item)
        name = str(fields.get("name", ""))
        permitted.add((str(fields.get("group")), str(fields.get("kind")), name))
    return permitted
