"""Compare the smallest job of each runtime with the teams that list it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.model.runtime import Runtime
from trainyard.model.space import Space
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules.capacity._jobs import display_maximum, offered_to, runnable

RULE = Rule(
    id="capacity/smallest-job-does-not-fit",
    severity=Severity.ERROR,
    summary="A team has enough nodes of some pool for the smallest job of a runtime that it lists.",
    why="""
        The admission policy refuses every job with the runtime, because none could ever start. The
        launcher of an MPI job takes a whole node too: Trainer creates a launcher and one node even
        for `numNodes: 1` (seen with Trainer 2.3.0), and Kueue never admits the pair: `... current
        podset request (<n>) > maximum capacity (<n>)` (seen with Kueue 0.19.2).
    """,
    fix="""
        Give the team two nodes, or one of its own and one to `borrow`. One is enough for torchrun,
        and for a runtime with `maxNodes: 1`, whose jobs are one pod.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    tenants = [tenant for site in platform.sites for tenant in site.tenants]
    offered = {launch for tenant in tenants for launch in offered_to(tenant)}
    for tenant in tenants:
        yield from _too_small_quotas(platform, tenant, offered)


def _too_small_quotas(
    platform: Platform, tenant: Tenant, offered: set[tuple[str, str]]
) -> Iterator[Diagnostic]:
    wanted = list(runnable(platform, tenant))
    nowhere = [each for each in wanted if (tenant.name, each[0].name) not in offered]
    for space in tenant.spaces:
        # A namespace that has a runtime need not have those that the team has elsewhere.
        yield from _too_small(tenant, space, nowhere if space.grants else wanted)


def _too_small(
    tenant: Tenant, space: Space, wanted: list[tuple[Runtime, Quota]]
) -> Iterator[Diagnostic]:
    """Yield the finding for the pool that gives the team the most nodes."""
    if not wanted:
        return
    runtime, quota = max(reversed(wanted), key=lambda each: each[1].maximum)
    smallest = runtime.smallest_job
    launched = ": one for the launcher and one more" if smallest > 1 else ""
    needs = (
        f"but the smallest job with runtime `{runtime.name}` takes "
        f"{counted(smallest, 'node')}{launched}"
    )
    if quota.maximum < smallest:
        message = f"team {tenant.name} may use {display_maximum(quota)}, {needs}"
        yield RULE.at(quota.place, message)
    else:
        largest = counted(space.profile.largest_job, "node")
        message = f"jobs in `{space.namespace}` may have at most {largest}, {needs}"
        hint = (
            f"Set `largestJob: {{nodes: {smallest}}}` or more; team {tenant.name} may use "
            f"{display_maximum(quota)}."
        )
        yield RULE.at(space.profile.largest_job_at, message, hint=hint)


CHECK = Check(RULE, find, each=("quota", "runtimes"))
