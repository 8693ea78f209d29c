"""Find an Argo CD that knows its objects by a label."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.live import Live
from trainyard.model.readable_of_others import ARGOCD_FILES
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight.excluded_kind import is_here

RULE = Rule(
    id="preflight/tracking-by-label",
    severity=Severity.WARNING,
    summary="Argo CD knows its objects by their annotation.",
    why="""
        Charts set the label `app.kubernetes.io/instance` too: Argo CD may take their objects for
        those of an Application, and delete them. `name-taken` can't tell whose an object is.
    """,
    fix="Set `application.resourceTrackingMethod: annotation` in argocd-cm.",
)
_KEY = "application.resourceTrackingMethod"


def find(live: Live) -> Iterator[Diagnostic]:
    if live.argocd.get(_KEY) == "label":
        yield RULE.at(
            live.at, f"argocd-cm in {live.site.cluster.argocd_namespace} has {_KEY}: label"
        )


LIVE = LiveCheck(RULE, find, ARGOCD_FILES, concerns=is_here)
