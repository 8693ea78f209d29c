"""Count the pools of each queue."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.scheduling._limits import WHY_LIMITED, queues

RULE = Rule(
    id="scheduling/too-many-pools-in-queue",
    severity=Severity.ERROR,
    summary="""
        A team has quota on no more pools of one class of node (gpu or cpu) than the release's Kueue
        allows.
    """,
    why=WHY_LIMITED,
    fix="Divide the pools among several teams, or combine pools with equal nodes.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for queue in queues(platform):
        most = queue.cluster.release.most_flavors
        if len(queue.flavors) > most:
            message = (
                f"team {queue.team.name} has quota on {len(queue.flavors)} {queue.node_class} "
                f"pools of cluster {queue.cluster.name}; a queue allows {most}"
            )
            yield RULE.at(queue.flavors[most].quota.at, message)


CHECK = Check(RULE, find)
