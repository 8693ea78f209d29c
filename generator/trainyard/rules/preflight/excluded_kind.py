"""Find kinds of the tree that Argo CD leaves out by its settings."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.live import Live
from trainyard.model.lookup import mappings, texts
from trainyard.model.manifest import Kind
from trainyard.model.readable_of_others import ARGOCD_FILES
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight.unchecked import RULE as UNCHECKED

RULE = Rule(
    id="preflight/excluded-kind",
    severity=Severity.ERROR,
    summary="Argo CD's settings leave out no kind of the tree.",
    why="Argo CD never applies an object of such a kind, and shows the Application as synced.",
    fix="Take the kind out of `resource.exclusions`, or into `resource.inclusions`, of argocd-cm.",
)
_OUT, _IN = "resource.exclusions", "resource.inclusions"


def find(live: Live) -> Iterator[Diagnostic]:
    if not any(map(live.may_have, ARGOCD_FILES)):
        namespace = live.site.cluster.argocd_namespace
        message = f"settings of Argo CD in {namespace} are not read; not checked: {RULE.id}"
        yield UNCHECKED.at(live.at, message, hint="Compare argocd-cm there, and waive this.")
    for kind in sorted({each.kind for each in live.delivered}, key=_shown):
        if _is_among(live, _OUT, kind):
            yield RULE.at(live.at, f"`{_OUT}` of Argo CD leaves out {_shown(kind)}")
        elif mappings(live.argocd, _IN) and not _is_among(live, _IN, kind):
            yield RULE.at(live.at, f"`{_IN}` of Argo CD lacks {_shown(kind)}")


def _is_among(live: Live, key: str, kind: Kind) -> bool:
    """Return whether a list of Argo CD names a kind; each part is a pattern, empty for any."""
    return any(
        _matches(each, "apiGroups", kind.group)
        and _matches(each, "kinds", kind.name)
        and _matches(each, "clusters", live.site.cluster.server)
        for each in mappings(live.argocd, key)
    )


def _matches(each: dict[str, Any], key: str, value: str) -> bool:
    patterns = texts(each, key)
    return not patterns or any(fnmatchcase(value, pattern) for pattern in patterns)


def _shown(kind: Kind) -> str:
    return f"{kind.name} of {kind.group or 'the core group'}"


def is_here(live: Live) -> bool:
    """Return whether Argo CD runs on the cluster itself."""
    return not live.site.cluster.has_remote_argocd


LIVE = LiveCheck(RULE, find, ARGOCD_FILES, concerns=is_here)
