"""Objects that somebody added, and that give rights, open networks or hold back jobs of teams."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.objects import Objects
from trainyard.model.facts import Body, Resource, labels_of, place_of
from trainyard.model.identity import Identity, identity
from trainyard.model.live import Live
from trainyard.model.lookup import mappings, text
from trainyard.model.manifest import Manifest
from trainyard.model.readable import CLUSTER_QUEUES, LOCAL_QUEUES, ROLE_BINDINGS
from trainyard.model.readable_of_tree import LIMITS, NETWORK_POLICIES, QUOTAS, TEAM_BINDINGS

_OF_TEAMS = (LIMITS, LOCAL_QUEUES, NETWORK_POLICIES, QUOTAS, TEAM_BINDINGS)
"""Kinds that act on a namespace as a whole."""
_SYSTEM = "system:"
"""Begins the name of a RoleBinding that Kubernetes or OpenShift makes in each project
(openshift/openshift-controller-manager:pkg/authorization/defaultrolebindings@master)."""


def added(live: Live, tree: Objects) -> Iterator[tuple[Manifest, Body]]:
    """Yield each object that is not in the tree and acts on what is in it; and as it was read.

    What a controller made for another object is left out.
    """
    for resource in (*_OF_TEAMS, CLUSTER_QUEUES, ROLE_BINDINGS):
        for body in live.of(resource):
            manifest = _manifest(live, body)
            is_new = identity(manifest) not in tree and not _is_made_by_controller(body)
            if is_new and _acts(live, tree, resource, manifest):
                yield manifest, body


def effect(manifest: Manifest) -> str:
    """Return what an added queue does, which no sentence of `diff` has; empty for other kinds."""
    if manifest.kind.name == "ClusterQueue":
        return f"it borrows and lends in cohort {text(manifest.body, 'spec', 'cohortName')}"
    if manifest.kind.name == "LocalQueue":
        return f"its jobs are counted in {text(manifest.body, 'spec', 'clusterQueue')}"
    return ""


def _is_made_by_controller(body: Body) -> bool:
    owners = mappings(dict(body), "metadata", "ownerReferences")
    return any(each.get("controller") is True for each in owners)


def _acts(live: Live, tree: Objects, resource: Resource, manifest: Manifest) -> bool:
    """Return whether an object acts on the tree's namespaces, cohorts or roles."""
    body = manifest.body
    if manifest.name.startswith(_SYSTEM):
        return False
    if resource in _OF_TEAMS:
        return bool(_team(live, manifest.namespace))
    if resource is CLUSTER_QUEUES:
        return Identity("Cohort", "", text(body, "spec", "cohortName")) in tree
    return Identity("ClusterRole", "", text(body, "roleRef", "name")) in tree


def _manifest(live: Live, body: Body) -> Manifest:
    """Return an object of the cluster as if it were in the unit of its namespace's team."""
    namespace, name = place_of(body)
    team = _team(live, namespace)
    folder = f"teams/{team}" if team else "platform"
    place = {"namespace": namespace} if namespace else {}
    metadata = {"name": name, **place, "labels": dict(labels_of(body))}
    path = f"{folder}/{text(dict(body), 'kind')}-{name}.yaml"
    return Manifest(path, {**body, "metadata": metadata}, (), live.at)


def _team(live: Live, namespace: str) -> str:
    """Return the team that has a namespace; empty for others."""
    for tenant in live.site.tenants:
        if namespace in tenant.namespaces:
            return tenant.name
    return ""
