"""Find runtimes with steps on nodes with a topology, where a step without pods left has no place in it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/no-return-after-steps",
    severity=Severity.WARNING,
    summary="""
        A job with steps that loses its nodes gets others again, on every cluster that has its
        runtime.
    """,
    why="""
        When its steps have ended and Kueue takes its nodes away, for a job that goes first or for
        an owner that comes back, it waits for ever beside free nodes, and nothing says why: Kueue
        tries again many times a second, and the API server refuses each time,
        `status.admission.podSetAssignments[0].topologyAssignment.slices: Required value` (seen with
        Kueue 0.16.2; 0.19.2 takes it back).
    """,
    fix="""
        Tell the teams to delete such a job and submit it again, and waive this; or have the job's
        own command do what the steps do, and remove `initialize`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        launches = [
            (site, launch)
            for site in platform.sites
            for launch in site.launches
            if launch.runtime == runtime
        ]
        if sites := list(
            dict.fromkeys(site.name for site, launch in launches if not launch.returns_after_steps)
        ):
            message = (
                f"jobs of runtime `{runtime.name}` that are evicted after their steps never "
                "start again on"
            )
            yield RULE.at(runtime.at / "initialize", f"{message} {', '.join(sites)}")


CHECK = Check(RULE, find)
