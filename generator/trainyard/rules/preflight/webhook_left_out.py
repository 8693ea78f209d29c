"""Find namespaces of teams in which Kueue is not asked about new jobs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.live import Live
from trainyard.model.named import by_name
from trainyard.model.readable_of_others import MUTATING
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._webhooks import team_namespaces, webhooks

RULE = Rule(
    id="preflight/webhook-left-out",
    severity=Severity.ERROR,
    summary="Kueue's webhooks are asked about each job in each namespace of a team.",
    why="A job that Kueue's webhook does not suspend starts at once, outside of any quota.",
    fix="""
        Give the webhook the selector that Kueue ships, or on OpenShift `spec.config` of its
        operator the kind of job.
    """,
)


def find(live: Live) -> Iterator[Diagnostic]:
    namespace = by_name(live.site.cluster.sources)["kueue"].namespace
    own = [each for each in webhooks(live, MUTATING) if each.service[0] == namespace]
    for framework in live.site.frameworks:
        plural = f"{framework.removeprefix('Batch').lower()}s"
        left = [
            name
            for name, labels in team_namespaces(live)
            if not any(each.takes(plural, labels) for each in own)
        ]
        if left:
            yield RULE.at(live.at, f"no webhook of Kueue takes {plural} in {few(left)}")


LIVE = LiveCheck(RULE, find, (MUTATING,))
