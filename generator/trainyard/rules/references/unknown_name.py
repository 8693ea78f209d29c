"""Text of `references/unknown-name`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="references/unknown-name",
    severity=Severity.ERROR,
    summary="""
        Each name in a profile is the name of a profile, or of an entry of the cluster, that exists.
    """,
    why="""
        What has the name refers to nothing, and the finding names what happens then. For example, a
        ClusterQueue turns inactive (`references missing ResourceFlavor(s): <flavor>.`), and a job
        whose priority is missing does not even get a Workload (both seen with Kueue 0.19.2).
    """,
    fix="Correct the name, or add the profile or entry that it names.",
)
