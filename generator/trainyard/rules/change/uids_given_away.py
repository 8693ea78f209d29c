"""Text of `change/uids-given-away`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity
from trainyard.rules.change._fixes import NEVER_MERGED

RULE = Rule(
    id="change/uids-given-away",
    severity=Severity.ERROR,
    summary="""
        No namespace gets a range or an SELinux level that another namespace of the cluster ever
        had.
    """,
    why="""
        The other namespace's files may still be on shared storage. The file server takes the pods
        of both namespaces for the same user: the new pods may read, change and delete these files
        wherever they can mount the folder.
    """,
    fix=f"""
        Give the namespace a range that was never used, as `trainyard add team` does.
        {NEVER_MERGED}
    """,
)
