"""Find queues outside of teams that lead to a ClusterQueue which a team's move holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import Body, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import text
from trainyard.model.readable import CLUSTER_QUEUES, LOCAL_QUEUES
from trainyard.model.team import Team
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/queue-of-a-team",
    severity=Severity.WARNING,
    summary="No namespace outside of teams has a LocalQueue of a team's old ClusterQueue.",
    why="""
        The cut-over holds the ClusterQueue before the team moves. Jobs of the other namespace wait
        from then on, and nobody opens it again.
    """,
    fix="""
        Make the namespace a space of the team, or have its owner choose another queue before the
        team moves.
    """,
    waivable=True,
)


def find(live: Live) -> Iterator[Diagnostic]:
    queues = sorted(live.of(LOCAL_QUEUES), key=place_of)
    teams = {name: tenant.team for tenant in live.site.tenants for name in tenant.namespaces}
    owners = _owners(queues, teams)
    old = owners.keys() - {manifest.name for manifest in live.made(CLUSTER_QUEUES)}
    for queue in queues:
        target = _target(queue)
        if _space(queue) not in teams and target in old:
            message = (
                f"LocalQueue `{place_of(queue)[1]}` in {_space(queue)} leads to ClusterQueue "
                f"`{target}`, which is held before team {owners[target].name} moves"
            )
            yield RULE.at(owners[target].at, message)


def _owners(queues: Iterable[Body], teams: Mapping[str, Team]) -> dict[str, Team]:
    """Return the team to whose namespaces a ClusterQueue gives quota, by its name."""
    return {_target(each): teams[_space(each)] for each in queues if _space(each) in teams}


def _space(queue: Body) -> str:
    return place_of(queue)[0]


def _target(queue: Body) -> str:
    return text(dict(queue), "spec", "clusterQueue")


LIVE = LiveCheck(RULE, find, (LOCAL_QUEUES,))
