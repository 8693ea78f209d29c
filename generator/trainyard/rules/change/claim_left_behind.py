"""Text of `change/claim-left-behind`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/claim-left-behind",
    severity=Severity.ERROR,
    summary="A team or namespace is renamed only when it has no claim on storage of kind `class`.",
    why="""
        A claim can't move to another namespace. The new namespace gets an empty claim, and the
        files are in a volume that is deleted with the old namespace unless its reclaim policy is
        `Retain`.
    """,
    fix="""
        Before the rename, copy the files to NFS or S3, remove the storage from the old profile and
        merge that. Add it to the new name in the same change as the rename, or later.
    """,
)
