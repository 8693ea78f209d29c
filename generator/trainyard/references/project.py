"""What Argo CD may write: each unit's objects against the AppProject that delivers it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity, Step
from trainyard.model.lookup import EVERY, lookup, mapping
from trainyard.model.manifest import Manifest
from trainyard.references.index import Index
from trainyard.references.names import Use

KIND_NOT_PERMITTED = Rule(
    id="delivery/kind-not-permitted",
    severity=Severity.ERROR,
    summary="""
        Every kind in a unit is one that its AppProject lists; a team has no cluster-wide one but
        Namespace.
    """,
    why="""
        Argo CD refuses the whole unit, and what is permitted in the same commit is not applied
        either: `resource rbac.authorization.k8s.io:ClusterRoleBinding is not permitted in project
        ...` (seen with Argo CD 3.5.7).
    """,
    fix="""
        Leave the object to the owner of its kind; a namespaced object must say its
        `metadata.namespace`.
    """,
)
NAMESPACE_NOT_PERMITTED = Rule(
    id="delivery/namespace-not-permitted",
    severity=Severity.ERROR,
    summary="Every object of a unit stands in a namespace that its AppProject may write into.",
    why="""
        Argo CD refuses the whole unit, and what is permitted in the same commit is not applied
        either: `namespace <namespace> is not permitted in project ...` (seen with Argo CD 3.5.7).
    """,
    fix="A component of a team may hold objects of the team's own namespace only.",
)


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
    """Yield who delivers each unit."""
    for application in index.kinds.get("Application", ()):
        spec = mapping(application.body, "spec")
        path = mapping(spec, "source").get("path")
        for unit in units:
            if index.site.folder(unit) == path:
                yield Delivered(
                    application, unit, str(spec.get("project", "")), ("spec", "project")
                )
    for generated in index.kinds.get("ApplicationSet", ()):
        template = str(mapping(generated.body, "spec", "template", "spec").get("project", ""))
        globs = [
            glob
            for _, glob in lookup(
                generated.body, ("spec", "generators", EVERY, "git", "directories", EVERY, "path")
            )
        ]
        for unit in units:
            if any(_matches(index.site.folder(unit), str(glob)) for glob in globs):
                project = template.replace("{{.path.basename}}", unit.rpartition("/")[2])
                yield Delivered(generated, unit, project, ("spec", "template", "spec", "project"))


def _matches(folder: str, glob: str) -> bool:
    return folder.count("/") == glob.count("/") and fnmatchcase(folder, glob)


def check_unit(
    delivered: Delivered, project: dict[str, Any], objects: list[Manifest]
) -> Iterator[Diagnostic]:
    """Yield the objects of a unit that its AppProject does not let through."""
    cluster_wide = _listed(project, "clusterResourceWhitelist")
    namespaced = _listed(project, "namespaceResourceWhitelist")
    namespaces = {
        str(name) for _, name in lookup(project, ("spec", "destinations", EVERY, "namespace"))
    }
    for manifest in objects:
        kind = manifest.kind
        listed, names = (
            (namespaced, ("",)) if kind.namespaced else (cluster_wide, ("", manifest.name))
        )
        if not any((kind.group, kind.name, name) in listed for name in names):
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


def _listed(project: dict[str, Any], field: str) -> set[tuple[str, str, str]]:
    """Return group, kind and name of what a project permits; an empty name is any."""
    items = [mapping(item) for _, item in lookup(project, ("spec", field, EVERY))]
    return {
        (str(item.get("group")), str(item.get("kind")), str(item.get("name", ""))) for item in items
    }
