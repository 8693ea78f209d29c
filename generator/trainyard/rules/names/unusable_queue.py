"""Find further names of queues that lead to no queue, or to two."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.model.queue_name import QueueName
from trainyard.model.team import TeamSpace
from trainyard.rules._check import Check
from trainyard.rules._iterate import holdings

RULE = Rule(
    id="names/unusable-queue",
    severity=Severity.ERROR,
    summary="A further name of a queue is free, and leads to one queue that the team has.",
    why="""
        A LocalQueue leads to one ClusterQueue and can't be led to another. `gpu`, `cpu` and
        `default` are in each namespace already, and OpenShift AI writes `openshift-ai` into it.
        Jobs that name a queue which leads nowhere are refused.
    """,
    fix="Choose another name, or keep it below one class of node of which the team has quota.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    found: list[Diagnostic] = []
    for team, flavors in holdings(platform):
        classes = {flavor.pool.hardware.node_class for flavor in flavors}
        for space in team.spaces:
            found += _twice(space)
            found += (
                RULE.at(each.at, why) for each in space.queues if (why := _why(each, classes))
            )
    # A space has the team's names where it states none.
    yield from dict.fromkeys(found)


def _twice(space: TeamSpace) -> Iterator[Diagnostic]:
    """Yield each name that a space has below both classes of node."""
    known: dict[str, QueueName] = {}
    for each in space.queues:
        if first := known.get(each.name):
            message = f"`{each.name}` is a name of queue {first.node_class} too"
            yield RULE.at(each.at, message, notes=[Note("the other place", first.at)])
        known[each.name] = each


def _why(each: QueueName, classes: set[str]) -> str:
    """Return why a name can't be given; empty if it can."""
    if names.is_reserved_queue(each.name):
        return f"`{each.name}` is reserved: it is, or may become, a queue of the platform's"
    if classes and each.node_class not in classes:
        return f"`{each.name}` leads to {each.node_class} nodes, of which the team has no quota"
    return ""


CHECK = Check(RULE, find)
