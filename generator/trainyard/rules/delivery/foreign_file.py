"""Text of `delivery/foreign-file`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/foreign-file",
    severity=Severity.ERROR,
    summary="The tree holds only files that Trainyard generates.",
    why="""
        Argo CD does not apply a file that no kustomization lists (seen with Argo CD 3.5.7), but the
        ApplicationSet makes an Application of each folder below `teams/`. `trainyard generate` does
        not delete the file. In review it looks like part of the platform.
    """,
    fix="Remove it with `git rm`, or move it out of the tree.",
)
