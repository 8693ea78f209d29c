"""Text of `delivery/submodule`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/submodule",
    severity=Severity.ERROR,
    summary="Neither the tree nor the profiles have a Git submodule.",
    why="""
        Argo CD fetches submodules unless `ARGOCD_GIT_MODULES_ENABLED` is `false`, and the
        ApplicationSet makes an Application of each folder below `teams/`. Objects of another
        repository are synced, which no check here has read.
    """,
    fix="Remove the submodule with `git rm`.",
)
