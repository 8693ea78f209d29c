"""Text of `change/merge-conflict`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/merge-conflict",
    severity=Severity.ERROR,
    summary="Base and head do not change the same lines of a profile.",
    why="""
        Git can't merge the branches by itself, so nobody knows yet what the merge will deliver. No
        check of either branch says anything about it.
    """,
    fix="""
        Merge the base into your branch, and resolve the conflict in the profile. Then run
        `trainyard resolve`: it solves `allocations.yaml`, and writes `overlays/` anew, whatever Git
        has left in both. Then `git add --all` and commit.
    """,
)
