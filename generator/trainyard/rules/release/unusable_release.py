"""Text of `release/unusable-release`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="release/unusable-release",
    severity=Severity.ERROR,
    summary="""
        The folder of a release has the files of a release only, its schemas are strict, and the
        release that it extends exists.
    """,
    why="""
        A schema that accepts every field lets through what the API server refuses or silently
        drops, so nothing is generated for a cluster with such a release.
    """,
    fix="""
        Correct what the message names, or remove the folder and make it anew with `trainyard
        release new`.
    """,
)
