"""Text of `change/folder-left-behind`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/folder-left-behind",
    severity=Severity.ERROR,
    summary="A renamed team keeps its folder on the NFS server.",
    why="""
        The new volume mounts another folder, which is empty or does not exist. The files stay on
        the server, and no namespace of the team can reach them.
    """,
    fix="Set `folder` of the renamed team to the folder that it had.",
)
