"""The rule on namespaces: none stays on the cluster without its policies."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic
from trainyard.model.identity import identity, team_of
from trainyard.rules.change.namespace_left_behind import RULE as NAMESPACE_LEFT_BEHIND


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
