"""Which namespaces are those of teams, as policies and forwarders ask for it."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model.cluster import Cluster
from trainyard.model.names import TEAM_PREFIX
from trainyard.render.cel import starts_with, text


@dataclass(frozen=True, slots=True)
class Tenancy:
    """The namespaces of teams on a cluster: those with the prefix, and those that profiles name."""

    cluster: Cluster

    @property
    def reserves_namespace(self) -> str:
        """CEL: the namespace has a name that only the delivery gives."""
        cluster, name = self.cluster, "object.metadata.name"
        own = starts_with(name, [TEAM_PREFIX])
        others = (cluster.system_namespace, *cluster.named_namespaces)
        return " || ".join([own, *(f"{name} == {text(other)}" for other in others)])

    @property
    def own_namespace(self) -> str:
        """CEL: the name of the platform's own namespace."""
        return text(self.cluster.system_namespace)

    @property
    def leaves_networks_of_teams(self) -> str:
        """CEL: annotations that choose networks name none of another team's namespace."""
        named = self.cluster.named_namespaces
        own = "request.namespace + '/'"
        of_team = starts_with("each.trim()", [TEAM_PREFIX, *(f"{each}/" for each in named)])
        pattern = "|".join([f'{TEAM_PREFIX}[^"]*', *named])
        pattern = f"({pattern})" if named else pattern
        of_team = f"({of_team})" if named else of_team
        return (
            "variables.daemon || variables.networks.all(text, text.matches("
            "'^[ -\\\\[\\\\]-~\\\\s]*$') && "
            f"text.split(',').all(each, !{of_team} || !each.contains('/') || "
            f"each.trim().startsWith({own})) && "
            f'text.lowerAscii().findAll(\'"namespace"\\\\s*:\\\\s*"{pattern}"\')'
            ".all(each, each.endsWith('\"' + request.namespace + '\"')))"
        )

    @property
    def team_namespaces(self) -> list[str]:
        """The namespaces of all teams; one that ends with ``*`` is a prefix."""
        return [f"{TEAM_PREFIX}*", *self.cluster.named_namespaces]

    @property
    def logged_namespaces(self) -> list[dict[str, str]]:
        """The same, as the forwarder of logs selects them."""
        return [{"namespace": name} for name in self.team_namespaces]
