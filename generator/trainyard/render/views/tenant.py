"""View of a team on a cluster."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model import names
from trainyard.model.tenant import Tenant
from trainyard.render.views.space import Binding, SpaceView


@dataclass(frozen=True, slots=True)
class TenantView:
    """A team on one cluster, as templates read it."""

    tenant: Tenant

    @property
    def labels(self) -> dict[str, str]:
        """Labels of every object in the team's unit."""
        return SpaceView(self.tenant.spaces[0]).labels

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """Binding in the whole cluster of all who have a role in the team, each once, sorted.

        None where nobody has a role.
        """
        subjects = {}
        for space in self.tenant.spaces:
            for subject in SpaceView(space).everybody:
                subjects[tuple(sorted(subject.items()))] = subject
        who = [subjects[key] for key in sorted(subjects)]
        name = names.catalog_viewers(self.tenant.name)
        return (Binding(name, names.CATALOG_VIEWER_ROLE, who),) if who else ()

    @property
    def description(self) -> str:
        """Description of the AppProject."""
        tenant = self.tenant
        whose = "its own namespace" if len(tenant.spaces) == 1 else "its own namespaces"
        return (
            f"Team {tenant.name} on {tenant.cluster.name}: {whose} and nothing else "
            f"({tenant.team.contact})"
        )

    @property
    def destinations(self) -> list[dict[str, str]]:
        """Namespaces that the team's unit writes into."""
        server = self.tenant.cluster.server
        return [{"server": server, "namespace": name} for name in self.tenant.namespaces]

    @property
    def permitted_namespaces(self) -> list[dict[str, str]]:
        """The only cluster-wide objects of the team's unit."""
        namespaces = self.tenant.namespaces
        return [{"group": "", "kind": "Namespace", "name": name} for name in namespaces]
