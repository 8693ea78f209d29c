"""The rule on namespaces: none stays on the cluster without its policies."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.history.replacement import Replacement
from trainyard.model.identity import identity, team_of

NAMESPACE_LEFT_BEHIND = Rule(
    id="change/namespace-left-behind",
    severity=Severity.ERROR,
    summary="A team keeps each of its namespaces as long as it is not drained.",
    why="""
        The namespace stays (`Prune=false`) with what runs in it, while Argo CD prunes its
        default-deny policy, roles and queue: its pods can be reached from every namespace and reach
        every host. Its jobs keep running, and the team no longer has rights there.
    """,
    fix="Restore the space. To remove it, first merge only `state: draining` for its team.",
)
RULES = (NAMESPACE_LEFT_BEHIND,)


def namespace_left_behind(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find namespaces that a team loses while its jobs may run."""
    site = replacement.site
    places = {tenant.name: tenant.team.at for tenant in site.tenants}
    running = replacement.running
    for namespace in replacement.old("Namespace"):
        team = team_of(namespace)
        if team in places and team in running and identity(namespace) not in replacement.after:
            message = (
                f"team `{team}` loses namespace `{namespace.name}` of cluster `{site.name}` while "
                "its jobs may run"
            )
            yield NAMESPACE_LEFT_BEHIND.at(places[team] / "spaces", message)
