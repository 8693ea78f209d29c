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
        A job that names no queue is refused, because Kueue adds the queue only to jobs that it
        queues. A job that names one does not start: only its queue adds the toleration, and its
        pods stay Pending: `<n> node(s) had untolerated taint(s)`. Where Kueue queues JobSets, such
        a job takes quota through the LocalQueue `default` all the while. A few start nevertheless,
        because Kueue and Trainer write the same JobSet (2 of 25, seen with Kueue 0.19.2).
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
