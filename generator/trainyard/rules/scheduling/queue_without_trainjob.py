"""Find clusters whose Kueue does not queue TrainJobs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/queue-without-trainjob",
    severity=Severity.ERROR,
    summary="TrainJob is among the frameworks that Kueue queues.",
    why="""
        No team can submit a job. Kueue adds the queue only to jobs that it queues, and suspends
        only these, so admission refuses every TrainJob: one that names no queue by `label
        kueue.x-k8s.io/queue-name must be one of`, one that names a queue by `Kueue has not
        suspended this job` (seen with Kueue 0.19.2).
    """,
    fix="Add TrainJob to `frameworks`, or remove the key to use its default.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        if "TrainJob" not in site.cluster.frameworks:
            message = (
                f"Kueue of cluster {site.name} queues {', '.join(site.cluster.frameworks)}, "
                "but not TrainJob"
            )
            yield RULE.at(site.cluster.at / "frameworks", message)


CHECK = Check(RULE, find)
