"""Find network policies of the site that lose their effect until their team is enforced."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import place_of
from trainyard.model.live import BEFORE, Live
from trainyard.model.lookup import texts
from trainyard.model.readable_of_tree import NETWORK_POLICIES
from trainyard.model.team import Team
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/closed-network-opened",
    severity=Severity.WARNING,
    summary="No namespace of a team that is not enforced has a network policy of the site.",
    why="""
        Policies add up. `trainyard-open-until-enforced` permits all, so what the site's policy
        denies is open from the first sync on, until the team's `adopt` is removed.
    """,
    fix="""
        Tell the owner of the policy, or enforce this team first. Whoever must have the network
        closed in between gives the team another namespace.
    """,
    waivable=True,
)


def find(live: Live) -> Iterator[Diagnostic]:
    teams = _opened(live)
    for body in sorted(live.of(NETWORK_POLICIES), key=place_of):
        namespace, name = place_of(body)
        if namespace in teams and live.owner(body):
            team = teams[namespace]
            ways = " and ".join(texts(dict(body), "spec", "policyTypes")) or "its pods"
            message = (
                f"NetworkPolicy {namespace}/{name} restricts {ways}; until team {team.name} is "
                "enforced, the tree opens all of it"
            )
            yield RULE.at(team.stage.at, message)


def _opened(live: Live) -> dict[str, Team]:
    """Return the teams that are not enforced, by their namespaces."""
    tenants = (tenant for tenant in live.site.tenants if not tenant.team.stage.enforces)
    return {name: tenant.team for tenant in tenants for name in tenant.namespaces}


LIVE = LiveCheck(RULE, find, (NETWORK_POLICIES,), (BEFORE,))
