"""Find namespaces with queues of others that Kueue's new selector leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.facts import labels_of, named, place_of
from trainyard.model.live import BEFORE, Live
from trainyard.model.readable import LOCAL_QUEUES, NAMESPACES
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._kueue import has_file

RULE = Rule(
    id="preflight/queue-left-out",
    severity=Severity.ERROR,
    summary="Kueue's selector holds each namespace that has a LocalQueue.",
    why="""
        From Kueue 0.15 on a new job there stays suspended, has no Workload and never starts, as
        soon as Kueue runs with `operators/kueue-configuration.yaml`. A job that runs keeps its
        quota after its end.
    """,
    fix="""
        Move the jobs of the namespace to a team, and delete its queue, before Kueue gets its new
        configuration. `queues: site` of `adopt` leaves the selector as wide as Kueue's own.
    """,
    waivable=True,
)


def find(live: Live) -> Iterator[Diagnostic]:
    if live.site.cluster.adoption.keeps_queues:
        return
    known, key = named(live.of(NAMESPACES)), live.site.cluster.team_label_key
    own = {manifest.name for manifest in live.made(NAMESPACES)}
    used = {place_of(queue)[0] for queue in live.of(LOCAL_QUEUES)} - own
    left = [name for name in sorted(used) if key not in labels_of(known.get(name, {}))]
    if left:
        message = f"namespaces with a LocalQueue lack the label {key}: {few(left)}"
        yield RULE.at(live.at, message)


LIVE = LiveCheck(RULE, find, (LOCAL_QUEUES, NAMESPACES), (BEFORE,), has_file)
