"""Find queues of the tree that are missing, or that admit nothing."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import Body, condition, place_of
from trainyard.model.live import AFTER, Live
from trainyard.model.readable import CLUSTER_QUEUES, LOCAL_QUEUES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/inactive-queue",
    severity=Severity.ERROR,
    summary="Each ClusterQueue and LocalQueue of the tree is active.",
    why="Jobs of the team wait, whatever is free.",
    fix="Read the reason, and put right what it names, e.g. a flavor that is not there.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    for resource in (CLUSTER_QUEUES, LOCAL_QUEUES):
        known = {place_of(body): body for body in live.of(resource)}
        for manifest in live.made(resource):
            fault = _fault(known.get((manifest.namespace, manifest.name)))
            if fault:
                where = f" in {manifest.namespace}" if manifest.namespace else ""
                message = f"{resource.kind} `{manifest.name}`{where} is not {fault}"
                yield RULE.at(manifest.at, message)


def _fault(queue: Body | None) -> str:
    """Return what a queue lacks; empty if it is active."""
    if queue is None:
        return "there"
    active = condition(queue, "Active")
    if active.get("status") == "True":
        return ""
    return f"active: {str(active.get('message') or 'Kueue has not looked at it')[:300]}"


LIVE = LiveCheck(RULE, find, (CLUSTER_QUEUES, LOCAL_QUEUES), (AFTER,))
