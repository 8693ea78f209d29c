"""Namespaces are not left open behind what kept them closed."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.history.replacement import Replacement, identity, team_of

NAMESPACE_LEFT_BEHIND = Rule(
    id="change/namespace-left-behind",
    severity=Severity.ERROR,
    summary="A team keeps each of its namespaces as long as it is not drained.",
    why="""
        The namespace stays (`Prune=false`) with what runs in it, while Argo CD prunes its
        default-deny policy, roles and queue: its pods can be reached from every namespace and reach
        every host. Jobs end as they may, since nobody of the team has rights there any more.
    """,
    fix="Restore the space; to take it away, merge `state: draining` for its team first, alone.",
)
RULES = (NAMESPACE_LEFT_BEHIND,)


def namespace_left_behind(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find namespaces that a team which stays and may run jobs has no more."""
    site = replacement.site
    places = {tenant.name: tenant.team.at for tenant in site.tenants}
    running = replacement.running
    for namespace in replacement.old("Namespace"):
        team = team_of(namespace)
        if team in places and team in running and identity(namespace) not in replacement.after:
            message = (
                f"namespace `{namespace.name}` of cluster `{site.name}` is no more of team `{team}`"
            )
            yield NAMESPACE_LEFT_BEHIND.at(
                places[team] / "spaces", f"{message}, while its jobs may run"
            )
