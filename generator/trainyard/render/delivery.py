"""Delivery of a site by Argo CD: projects and applications, bounded by their units' kinds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from trainyard.model import names
from trainyard.model.manifest import Kind
from trainyard.model.platform import Site

_VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")
_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Application:
    """One Application outside the ApplicationSet; its project has the same name.

    Args:
        prune: whether objects that leave the folder are deleted.
        automatic: whether Argo CD syncs a commit by itself; otherwise a person starts each sync.
        brings_kinds: whether an operator creates kinds of the unit when it sees an object of the
            unit.
    """

    name: str
    path: str
    server: str
    namespace: str
    prune: bool
    automatic: bool = True
    brings_kinds: bool = False

    @property
    def sync_options(self) -> tuple[str, ...]:
        """Options with which Argo CD applies the unit.

        In the foreground, the default, an object stays as long as one that names it as its owner.
        Without ``ApplyOutOfSyncOnly`` a change of one queue applies every object of the unit again,
        wave by wave. Without the last, Argo CD refuses the whole unit while a kind is missing that
        one of its objects brings.
        """
        options = (
            "ServerSideApply=true",
            "PruneLast=true",
            "PrunePropagationPolicy=background",
            "ApplyOutOfSyncOnly=true",
        )
        return (*options, "SkipDryRunOnMissingResource=true") if self.brings_kinds else options


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of the cluster itself; its AppProject and Application have one name.

    Args:
        name: of its folder, below the cluster's.
        holds: its content, for the AppProject's description.
        kinds: that it may have.
        namespaces: that it writes into.
    """

    site: Site
    name: str
    holds: str
    kinds: frozenset[Kind]
    namespaces: tuple[str, ...]

    @property
    def application(self) -> str:
        """AppProject and Application."""
        return self.site.part(self.name)

    @property
    def description(self) -> str:
        """Of the AppProject."""
        return f"{self.name.capitalize()} part of {self.site.name}: {self.holds}"

    @property
    def home(self) -> str:
        """Namespace of the Application's destination: our own where the unit writes into it."""
        own = self.site.cluster.system_namespace
        return own if own in self.namespaces else self.namespaces[0]

    @property
    def destinations(self) -> list[dict[str, str]]:
        """Namespaces that it writes into."""
        return [
            {"server": self.site.cluster.server, "namespace": namespace}
            for namespace in self.namespaces
        ]

    @property
    def cluster_kinds(self) -> list[dict[str, str]]:
        """Its cluster-scoped kinds."""
        return _listed(kind for kind in self.kinds if not kind.namespaced)

    @property
    def namespaced_kinds(self) -> list[dict[str, str]]:
        """Its namespaced kinds; never empty, since Argo CD takes an empty list for every kind."""
        return _listed(kind for kind in self.kinds if kind.namespaced) or self.cluster_kinds


@dataclass(frozen=True, slots=True)
class Delivery:
    """Everything that the objects for Argo CD contain about a site.

    Args:
        units: those of the cluster itself: the platform, and its nodes where it has objects for
            them.
        team: kinds that a team's unit may have, its hand-written components included.
        roles: ClusterRoles that the platform unit writes.
        bound: ClusterRoles that some binding of the tree gives.
        components: folder of the hand-written components, from the root of the Git repository, e.g.
            ``/profiles/components``.
    """

    site: Site
    units: tuple[Unit, ...]
    team: frozenset[Kind]
    roles: frozenset[str]
    bound: frozenset[str]
    components: str

    @property
    def argocd_application(self) -> str:
        """AppProject and Application that deliver the argocd folder itself."""
        return self.site.part("argocd")

    @property
    def teams_application_set(self) -> str:
        """ApplicationSet of the teams."""
        return self.site.part("teams")

    @property
    def delivery_role(self) -> str:
        """ClusterRole of Argo CD's application controller for this cluster."""
        return names.application("trainyard-delivery", self.site.name)

    @property
    def argocd_description(self) -> str:
        """Of the AppProject."""
        return f"Delivery of {self.site.name}: its AppProjects and applications"

    @property
    def applications(self) -> tuple[Application, ...]:
        """The cluster's units, and the argocd folder, which is never pruned."""
        return (self._argocd, *map(self._application, self.units))

    @property
    def _argocd(self) -> Application:
        folder, namespace = self.site.folder("argocd"), self.site.cluster.argocd_namespace
        return Application(
            self.argocd_application,
            folder,
            "https://kubernetes.default.svc",
            namespace,
            prune=False,
        )

    def _application(self, unit: Unit) -> Application:
        """Return the Application of a unit; a person starts a sync of nodes, which reboots them."""
        cluster, nodes = self.site.cluster, unit.name == "nodes"
        return Application(
            name=unit.application,
            path=self.site.folder(unit.name),
            server=cluster.server,
            namespace=unit.home,
            prune=not nodes,
            automatic=not nodes or cluster.node_sync == "automatic",
            brings_kinds=not nodes and "kueue-operator" in cluster.release.features,
        )

    @property
    def teams_glob(self) -> str:
        """Folders in the repository, one a team."""
        return self.site.folder("teams/*")

    @property
    def team_application_template(self) -> str:
        """Name of each team's application and project, by the folder's name."""
        return self.site.part("team-{{.path.basename}}")

    @property
    def team_path_template(self) -> str:
        """The folder that the generator found."""
        return "{{.path.path}}"

    @property
    def team_namespace_template(self) -> str:
        """Namespace of the team: the usual one, unless its profile states another."""
        folder, stated = "{{.path.basename}}", []
        for tenant in self.site.tenants:
            own = tenant.namespaces[0]
            if own != names.namespace(tenant.name):
                stated.append(f'eq .path.basename "{tenant.name}" }}}}{own}')
        usual = names.namespace(folder)
        if not stated:
            return usual
        return f"{{{{ if {'{{ else if '.join(stated)}{{{{ else }}}}{usual}{{{{ end }}}}"

    @property
    def team_paths(self) -> str:
        """Folders whose change renders a team's application again: its own, and the components."""
        return f".;{self.components}"

    @property
    def team_kinds(self) -> list[dict[str, str]]:
        """Namespaced kinds of a team's unit."""
        return _listed(kind for kind in self.team if kind.namespaced)

    @property
    def delivery_rules(self) -> list[dict[str, Any]]:
        """RBAC rules for all kinds of the tree.

        ``escalate`` and ``bind`` by name: the API server refuses a role or binding that gives what
        its writer does not hold, and judges both by the name of the role
        (kubernetes/kubernetes:pkg/registry/rbac/escalation_check.go).
        """
        release = self.site.cluster.release
        own = {self.delivery_role}
        kinds = self.team.union(*(unit.kinds for unit in self.units))
        groups: dict[str, list[str]] = {}
        for kind in kinds:
            groups.setdefault(kind.group, []).append(release.plural(kind.group, kind.name))
        rules = [
            {"apiGroups": [group], "resources": sorted(set(resources)), "verbs": list(_VERBS)}
            for group, resources in sorted(groups.items())
        ]
        return [*rules, _named("bind", self.bound | own), _named("escalate", self.roles | own)]


def _named(verb: str, roles: frozenset[str]) -> dict[str, Any]:
    return {
        "apiGroups": [_RBAC],
        "resourceNames": sorted(roles),
        "resources": ["clusterroles"],
        "verbs": [verb],
    }


def _listed(kinds: Iterable[Kind]) -> list[dict[str, str]]:
    listed = sorted((kind.group, kind.name) for kind in kinds)
    return [{"group": group, "kind": name} for group, name in listed]
