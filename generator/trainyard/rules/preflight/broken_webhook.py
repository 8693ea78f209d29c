"""Find webhooks that nobody answers, and that jobs of teams can't be made without."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import labels_of, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.readable_of_others import ENDPOINTS, MUTATING, VALIDATING
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._webhooks import Webhook, team_namespaces, webhooks

RULE = Rule(
    id="preflight/broken-webhook",
    severity=Severity.ERROR,
    summary="Each webhook that is asked about jobs and pods of teams can answer.",
    why="""
        The API server refuses each job or pod that it can't ask the webhook about.
    """,
    fix="""
        See why its pods are not ready, or why nobody writes its certificate; or have its owner take
        it away.
    """,
)
_SERVICE = "kubernetes.io/service-name"
_MADE = ("pods", "jobs", "jobsets", "trainjobs", "workloads")


def find(live: Live) -> Iterator[Diagnostic]:
    ready = set(_ready(live))
    spaces = [labels for _, labels in team_namespaces(live)]
    for resource in (MUTATING, VALIDATING):
        for webhook in webhooks(live, resource):
            fault = _fault(webhook, ready)
            asked = (webhook.takes(kind, labels) for kind in _MADE for labels in spaces)
            if fault and any(asked):
                yield RULE.at(live.at, f"webhook {webhook.display} {fault}")


def _ready(live: Live) -> Iterator[tuple[str, str]]:
    """Yield the services that have a ready endpoint; one without a state counts as ready."""
    for piece in live.of(ENDPOINTS):
        states = (mapping(each, "conditions") for each in mappings(dict(piece), "endpoints"))
        if any(state.get("ready") is not False for state in states):
            yield place_of(piece)[0], labels_of(piece).get(_SERVICE, "")


def _fault(webhook: Webhook, ready: set[tuple[str, str]]) -> str:
    """Return why a webhook can't answer; empty where it can, may fail, or is outside."""
    if text(webhook.body, "failurePolicy") == "Ignore" or not webhook.service[1]:
        return ""
    if webhook.service not in ready:
        return f"has no ready endpoint of service {'/'.join(webhook.service)}"
    return "" if text(webhook.body, "clientConfig", "caBundle") else "has no `caBundle`"


LIVE = LiveCheck(RULE, find, (ENDPOINTS, MUTATING, VALIDATING))
