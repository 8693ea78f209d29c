"""Find runtimes with steps whose evicted jobs never start again."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform, Site
from trainyard.model.runtime import Runtime
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/no-return-after-steps",
    severity=Severity.WARNING,
    summary="""
        A job with steps that loses its nodes gets nodes again, on every cluster that has its
        runtime.
    """,
    why="""
        A job that is evicted after its steps have ended waits permanently beside free nodes, and
        nothing reports why. It is evicted for a job that goes first, or for an owner that takes
        nodes back. Kueue then retries many times a second, and the API server refuses each time,
        `status.admission.podSetAssignments[0].topologyAssignment.slices: Required value` (seen with
        Kueue 0.16.2; 0.19.2 takes it back).
    """,
    fix="""
        Ask the teams to delete such a job and submit it again, and waive this; or do the work of
        the steps in the job's own command, and remove `initialize`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        sites = [site.name for site in platform.sites if _never_returns(site, runtime)]
        if sites:
            message = (
                f"jobs of runtime `{runtime.name}` that are evicted after their steps never "
                f"start again on {', '.join(sites)}"
            )
            yield RULE.at(runtime.at / "initialize", message)


def _never_returns(site: Site, runtime: Runtime) -> bool:
    """Return whether a runtime's jobs stay evicted on some node type of a cluster."""
    launches = (launch for launch in site.launches if launch.runtime == runtime)
    return not all(launch.returns_after_steps for launch in launches)


CHECK = Check(RULE, find)
