"""A cluster beside the tree that is committed for it: what a preflight check sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.facts import INSTALLATION, TRACKING, Body, Facts, Resource, labels_of, place_of
from trainyard.model.lookup import mapping
from trainyard.model.manifest import UNLISTED, Manifest
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.readable import NAMESPACES, NODES
from trainyard.model.readable_of_others import ARGOCD_FILES

BEFORE, AFTER = "before", "after"
"""Phases: before the first sync of a tree, and after it."""

_MANAGER, _US = "app.kubernetes.io/managed-by", "trainyard"
_PARTS = ("argocd", "nodes", "platform", "teams")


@dataclass(frozen=True, slots=True)
class Live:
    """A cluster, and its tree.

    Args:
        phase: `BEFORE` or `AFTER`.
        manifests: the committed objects, those of components included.
        kueue: Kueue's configuration in its ConfigMap; empty where there is none.
        argocd: settings of the cluster's own Argo CD that are read; empty where there are none.
        read_on: ISO date of the facts; empty where nobody states it.
        today: ISO date.
    """

    site: Site
    phase: str
    manifests: tuple[Manifest, ...]
    facts: Facts
    kueue: Mapping[str, Any]
    argocd: Mapping[str, Any] = field(default_factory=dict)
    read_on: str = ""
    today: str = ""

    @property
    def at(self) -> Pointer:
        """The cluster's profile."""
        return self.site.cluster.at

    @property
    def delivered(self) -> list[Manifest]:
        """The objects that Argo CD applies here: its own may be on another cluster."""
        elsewhere = {"argocd"} if self.site.cluster.has_remote_argocd else set()
        return [each for each in self.manifests if each.unit not in UNLISTED | elsewhere]

    @property
    def applications(self) -> frozenset[str]:
        """Names of the Applications and ApplicationSets of the tree."""
        of_teams = (tenant.application for tenant in self.site.tenants)
        return frozenset((*map(self.site.part, _PARTS), *of_teams))

    def may_have(self, resource: Resource) -> bool:
        """Return whether a kind can be there: Argo CD's settings are in its namespace alone."""
        namespace = self.site.cluster.argocd_namespace
        return resource not in ARGOCD_FILES or resource.only == (namespace, "argocd-cm")

    def of(self, resource: Resource) -> list[Body]:
        """Return the objects of a kind on the cluster."""
        return self.facts.of(resource)

    def made(self, resource: Resource) -> list[Manifest]:
        """Return the objects of a kind in the tree."""
        return [each for each in self.delivered if resource.has(each.body)]

    def owner(self, body: Body) -> str:
        """Return who made an object, in words; empty if the tree did.

        Argo CD's mark decides; without one, the label that each object of a tree has.
        """
        marks = mapping(dict(body), "metadata", "annotations")
        tracked, other = marks.get(TRACKING), self._other_argocd(marks)
        if isinstance(tracked, str):
            application = tracked.partition(":")[0]
            is_ours = application in self.applications and not other
            return "" if is_ours else f"Application `{application}`{other}"
        return "" if labels_of(body).get(_MANAGER) == _US else _managers(body)

    def _other_argocd(self, marks: Mapping[str, Any]) -> str:
        """Return which other Argo CD marked an object; not known where ours is elsewhere."""
        installation = str(marks.get(INSTALLATION) or "")
        own = str(self.argocd.get("installationID") or "")
        is_ours = installation == own or self.site.cluster.has_remote_argocd
        return "" if is_ours else f" of Argo CD `{installation or 'without an installation id'}`"

    def labels_of(self, namespace: str) -> dict[str, str]:
        """Return the labels that a namespace has, or will have by the tree."""
        named = {"kubernetes.io/metadata.name": namespace}
        for body in (*(each.body for each in self.made(NAMESPACES)), *self.of(NAMESPACES)):
            if place_of(body)[1] == namespace:
                return {**labels_of(body), **named}
        return named

    def nodes_of(self, pool: Pool) -> list[Body]:
        """Return the nodes that a pool's labels select."""
        return [node for node in self.of(NODES) if pool.labels.items() <= labels_of(node).items()]

    def pools(self) -> Iterator[tuple[Pool, list[Body]]]:
        """Yield each pool with its nodes."""
        for pool in self.site.cluster.pools:
            yield pool, self.nodes_of(pool)


def _managers(body: Body) -> str:
    """Return who manages fields of an object, e.g. ``somebody (helm)``."""
    fields = (body.get("metadata") or {}).get("managedFields") or ()
    names = ", ".join(sorted({str(each.get("manager")) for each in fields}))
    return f"somebody ({names})" if names else "somebody"
