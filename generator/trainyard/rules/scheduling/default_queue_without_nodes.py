"""Find default queues of a class of node that a team has no quota of."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.team import NO_QUEUE
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings

RULE = Rule(
    id="scheduling/default-queue-without-nodes",
    severity=Severity.ERROR,
    summary="A team has nodes of the class that its `defaultQueue` names.",
    why="""
        A job without a queue's label goes to the queue of the other class (seen with Kueue 0.19.2).
        With `defaultQueue: cpu` and no CPU nodes it takes nodes with GPUs.
    """,
    fix="""
        Remove `defaultQueue`, or give the team quota of a pool of such nodes. To refuse jobs
        without a label, set it to `none`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for team, flavors in holdings(platform):
        classes = {flavor.pool.hardware.node_class for flavor in flavors}
        wanted = team.default_queue
        if classes and wanted not in {"", NO_QUEUE, *classes}:
            message = (
                f"jobs of team {team.name} without a queue's label should go to {wanted} nodes, "
                f"but it has quota of {' and '.join(sorted(classes))} nodes only"
            )
            notes = [Note("its quota", team.at / "quota")]
            yield RULE.at(team.at / "defaultQueue", message, notes=notes)


CHECK = Check(RULE, find)
