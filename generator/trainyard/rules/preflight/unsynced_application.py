"""Find Applications of the tree that are missing, not synced or not healthy."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import named
from trainyard.model.live import AFTER, Live
from trainyard.model.lookup import text
from trainyard.model.readable import APPLICATIONS
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/unsynced-application",
    severity=Severity.ERROR,
    summary="Each Application of the tree is there, synced and healthy.",
    why="The cluster does not have what Git has: a policy, queue or network may be missing.",
    fix="Open the Application in Argo CD, and put right what it reports; then sync it.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    known = named(live.of(APPLICATIONS))
    of_units = {each.name: each.at for each in live.made(APPLICATIONS)}
    of_teams = {tenant.application: tenant.team.at for tenant in live.site.tenants}
    for name, at in sorted({**of_units, **of_teams}.items()):
        body = known.get(name)
        if body is None:
            yield RULE.at(at, f"Application `{name}` is not there")
            continue
        state = text(body, "status", "sync", "status"), text(body, "status", "health", "status")
        if state != ("Synced", "Healthy"):
            shown = " and ".join(each or "unknown" for each in state)
            yield RULE.at(at, f"Application `{name}` is {shown}")


def _is_here(live: Live) -> bool:
    """Return whether Argo CD runs on the cluster itself: only then are its objects there."""
    return not live.site.cluster.has_remote_argocd


LIVE = LiveCheck(RULE, find, (APPLICATIONS,), (AFTER,), _is_here)
