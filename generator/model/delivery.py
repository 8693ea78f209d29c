"""How Argo CD delivers a site: projects and applications, bounded by the kinds that their units may have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from generator.model import names
from generator.model.manifest import Kind
from generator.model.platform import Site

_VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")
_RBAC = "rbac.authorization.k8s.io"
_PLURALS = {
    "NetworkAttachmentDefinition": "network-attachment-definitions",
    "SecurityContextConstraints": "securitycontextconstraints",
}


@dataclass(frozen=True, slots=True)
class Application:
    """One Application that stands by itself; its project has the same name.

    Args:
        prune: whether objects that leave the folder are deleted.
    """

    name: str
    path: str
    server: str
    namespace: str
    prune: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """What Argo CD must be told about a site.

    Args:
        platform: kinds that the platform unit may have; ``namespaces`` those that it writes into.
        team: kinds that a team's unit may have, its hand-written components included.
        roles: ClusterRoles that the platform unit writes.
        bound: ClusterRoles that some binding of the tree gives.
        components: folder of the hand-written components, from the root of the Git repository, e.g.
            ``/profiles/components``.
    """

    site: Site
    platform: frozenset[Kind]
    namespaces: tuple[str, ...]
    team: frozenset[Kind]
    roles: frozenset[str]
    bound: frozenset[str]
    components: str

    @property
    def platform_application(self) -> str:
        """AppProject and Application of the platform unit."""
        return self.site.part("platform")

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
    def platform_description(self) -> str:
        """Of the AppProject."""
        return f"Platform part of {self.site.name}: queues, runtimes, fabric, nodes, policies, roles"

    @property
    def argocd_description(self) -> str:
        """Of the AppProject."""
        return f"Delivery of {self.site.name}: its AppProjects and applications"

    @property
    def applications(self) -> tuple[Application, ...]:
        """The platform unit, and the argocd folder itself, which lies on Argo CD's own cluster and is never pruned."""
        cluster = self.site.cluster
        platform, argocd = self.site.folder("platform"), self.site.folder("argocd")
        home = "https://kubernetes.default.svc"
        return (
            Application(self.argocd_application, argocd, home, cluster.argocd_namespace, prune=False),
            Application(self.platform_application, platform, cluster.server, cluster.system_namespace, prune=True),
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
        """Namespace of the team."""
        return names.namespace("{{.path.basename}}")

    @property
    def team_paths(self) -> str:
        """What makes a team's application render again: its own folder, and the hand-written components."""
        return f".;{self.components}"

    @property
    def platform_destinations(self) -> list[dict[str, str]]:
        """Namespaces that the platform unit writes into."""
        return [{"server": self.site.cluster.server, "namespace": namespace} for namespace in self.namespaces]

    @property
    def platform_cluster_kinds(self) -> list[dict[str, str]]:
        """Cluster-scoped kinds of the platform unit."""
        return _listed(kind for kind in self.platform if not kind.namespaced)

    @property
    def platform_namespaced_kinds(self) -> list[dict[str, str]]:
        """Namespaced kinds of the platform unit."""
        return _listed(kind for kind in self.platform if kind.namespaced)

    @property
    def team_kinds(self) -> list[dict[str, str]]:
        """Namespaced kinds of a team's unit."""
        return _listed(kind for kind in self.team if kind.namespaced)

    @property
    def delivery_rules(self) -> list[dict[str, Any]]:
        """RBAC rules for all kinds of the tree.

        ``escalate`` and ``bind`` by name: the API server refuses a role or binding that gives what its writer does not
        hold, and judges both by the name of the role (kubernetes/kubernetes:pkg/registry/rbac/escalation_check.go).
        """
        own = {self.delivery_role}
        kinds = self.platform | self.team
        groups: dict[str, list[str]] = {}
        for kind in kinds:
            groups.setdefault(kind.group, []).append(plural(kind.name))
        rules = [
            {"apiGroups": [group], "resources": sorted(set(resources)), "verbs": list(_VERBS)}
            for group, resources in sorted(groups.items())
        ]
        return [*rules, _named("bind", self.bound | own), _named("escalate", self.roles | own)]


def _named(verb: str, roles: frozenset[str]) -> dict[str, Any]:
    return {"apiGroups": [_RBAC], "resourceNames": sorted(roles), "resources": ["clusterroles"], "verbs": [verb]}


def plural(kind: str) -> str:
    """Return the resource name of a kind, as RBAC wants it."""
    lower = kind.lower()
    if kind in _PLURALS:
        return _PLURALS[kind]
    if lower.endswith("y"):
        return f"{lower[:-1]}ies"
    return f"{lower}es" if lower.endswith("s") else f"{lower}s"


def _listed(kinds: Iterable[Kind]) -> list[dict[str, str]]:
    listed = sorted((each.group, each.name) for each in kinds)
    return [{"group": group, "kind": name} for group, name in listed]
