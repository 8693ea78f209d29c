"""Find LocalQueues in namespaces of teams that lead to quota of others."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import place_of
from trainyard.model.live import Live
from trainyard.model.lookup import text
from trainyard.model.readable import LOCAL_QUEUES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/other-local-queue",
    severity=Severity.ERROR,
    summary="Namespaces of teams have no LocalQueue beside those of the tree.",
    why="Jobs that name the queue run outside of the team's quota, on nodes of others.",
    fix="""
        Have whoever made the queue delete it once its jobs have ended. Until then `queues: site` of
        `adopt` lets the queues of the site go on.
    """,
    waivable=True,
)


def find(live: Live) -> Iterator[Diagnostic]:
    if live.site.cluster.adoption.keeps_queues:
        return
    made = {(each.namespace, each.name) for each in live.made(LOCAL_QUEUES)}
    teams = {name: tenant for tenant in live.site.tenants for name in tenant.namespaces}
    for body in sorted(live.of(LOCAL_QUEUES), key=place_of):
        (namespace, name), target = place_of(body), text(dict(body), "spec", "clusterQueue")
        if namespace in teams and (namespace, name) not in made:
            message = f"LocalQueue `{name}` in {namespace} leads to ClusterQueue `{target}`"
            yield RULE.at(teams[namespace].team.at, message)


LIVE = LiveCheck(RULE, find, (LOCAL_QUEUES,))
