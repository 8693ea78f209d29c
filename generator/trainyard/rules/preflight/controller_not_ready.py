"""Find controllers that the tree needs and that are not there, or do not run."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.live import Live
from trainyard.model.lookup import mapping
from trainyard.model.readable import DEPLOYMENTS, STATEFUL_SETS
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._controllers import controllers

RULE = Rule(
    id="preflight/controller-not-ready",
    severity=Severity.ERROR,
    summary="Kueue, Trainer, JobSet and Argo CD run.",
    why="Objects of a controller that does not run stay as they are: no job starts.",
    fix="Install it, or see with `kubectl describe` why its pods are not ready.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    for component, namespace, body in controllers(live):
        at = live.at / "release"
        if body is None:
            yield RULE.at(at, f"{component}: namespace {namespace} has no controller of it")
        elif not mapping(dict(body), "status").get("availableReplicas"):
            yield RULE.at(at, f"{component}: no pod of its controller in {namespace} is ready")


LIVE = LiveCheck(RULE, find, (DEPLOYMENTS, STATEFUL_SETS))
