"""Text of `shape/conflict-marker`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="shape/conflict-marker",
    severity=Severity.ERROR,
    summary="The file holds a profile, not a merge conflict or a Git LFS pointer.",
    why="""
        The profile is missing: a merge was not finished, or Git LFS did not fetch the file.
    """,
    fix="""
        Finish the merge and remove the marker lines. In `allocations.yaml` and in `overlays/`
        `trainyard resolve` does it.
    """,
)
