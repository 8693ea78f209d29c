"""Find clusters on which nobody is declared to keep what happens there."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.monitoring import RECORDS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="monitoring/records-without-owner",
    severity=Severity.WARNING,
    summary="""
        `external` of a cluster names who keeps its audit log, its events, and the lines of pods.
    """,
    why="""
        Nobody can find out later who did what, why a job waited, or why it failed. The API server
        keeps events for an hour (three on OpenShift), and rotates its audit log on its own disk.
        The lines of a pod go when it is deleted: an MPI job's workers at its end, and all pods when
        Kueue evicts the job.
    """,
    fix="""
        Declare in `external` who keeps each, e.g. `Events/loki: monitoring team`, once they do. Set
        `monitoring.logs` to state how long lines are kept.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        kept = {name.partition("/")[0] for name in site.cluster.external}
        missing = [f"`{kind}/...` ({words})" for kind, words in RECORDS.items() if kind not in kept]
        if missing:
            message = f"cluster {site.name} has no {', '.join(missing)} in `external`"
            yield RULE.at(site.cluster.at / "external", message)


CHECK = Check(RULE, find)
