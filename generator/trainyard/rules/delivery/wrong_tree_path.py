"""Text of `delivery/wrong-tree-path`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="delivery/wrong-tree-path",
    severity=Severity.ERROR,
    summary="`path` is the folder of the generated tree, from the root of the Git repository.",
    why="""
        Argo CD looks for the tree in a folder that does not exist and delivers nothing:
        `ComparisonError ... app path does not exist`. The ApplicationSet finds no team's folder and
        creates no Application.
    """,
    fix="""
        Set `path` in `profiles/trainyard.yaml` to the tree's folder from the root of the Git
        repository.
    """,
)
