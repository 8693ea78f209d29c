"""Find webhooks of others that change pods of teams."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.live import Live
from trainyard.model.readable_of_others import MUTATING
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._webhooks import team_namespaces, webhooks

RULE = Rule(
    id="preflight/other-mutating-webhook",
    severity=Severity.WARNING,
    summary="No webhook that the tree does not know changes pods in namespaces of teams.",
    why="""
        A container that a service mesh or an agent adds counts for quota, keeps a job from ending,
        and may be refused by the admission policies.
    """,
    fix="Have its owner leave out the namespaces of teams by their label; or waive this.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    known = set(_known(live))
    spaces = list(team_namespaces(live))
    for webhook in webhooks(live, MUTATING):
        if webhook.service[0] not in known:
            changed = [name for name, labels in spaces if webhook.takes("pods", labels)]
            if changed:
                message = f"webhook {webhook.display} changes pods in {changed[0]}"
                others = f" and {len(changed) - 1} more" if changed[1:] else ""
                yield RULE.at(live.at, f"{message}{others}")


def _known(live: Live) -> Iterator[str]:
    """Yield the namespaces of the operators that the tree needs."""
    cluster = live.site.cluster
    yield from (source.namespace for source in cluster.sources if source.namespace)
    yield cluster.release.sriov_namespace
    for name in cluster.external:
        kind, _, namespace = name.partition("/")
        if kind == "Namespace":
            yield namespace


LIVE = LiveCheck(RULE, find, (MUTATING,))
