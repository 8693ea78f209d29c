"""Look at each runtime by itself, then for namespaces without any, and runtimes that a team has nowhere."""

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
from trainyard.rules._iterate import held
from trainyard.rules.capacity._jobs import reached

RULE = Rule(
    id="capacity/smallest-job-does-not-fit",
    severity=Severity.ERROR,
    summary="A team reaches enough of some pool for the smallest job of a runtime that it lists.",
    why="""
        The launcher of an MPI job takes a whole node too: Trainer makes a launcher and one node
        even of `numNodes: 1` (seen with Trainer 2.3.0), and Kueue never admits the pair: `...
        current podset request (<n>) > maximum capacity (<n>)` (seen with Kueue 0.19.2). So the
        admission policy refuses what a team can't have.
    """,
    fix="""
        Give the team two nodes, or one that is its own and one to borrow; torchrun needs one only.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        if runtime.max_nodes < runtime.launcher.smallest_job:
            message = (
                f"runtime `{runtime.name}` takes {counted(runtime.max_nodes, 'node')} at most, and "
                f"its smallest job has {runtime.launcher.smallest_job}"
            )
            hint = f"Set `maxNodes` to {runtime.launcher.smallest_job} or more."
            yield RULE.at(runtime.at / "maxNodes", message, hint=hint)
    tenants = [tenant for site in platform.sites for tenant in site.tenants]
    offered = {
        (each.name, launch.runtime.name)
        for each in tenants
        for space in each.spaces
        for launch in space.launches
    }
    for tenant in tenants:
        runnable = _runnable(platform, tenant)
        nowhere = [
            (runtime, quota)
            for runtime, quota in runnable
            if (tenant.name, runtime.name) not in offered
        ]
        for space in tenant.spaces:
            yield from _unfit(tenant, space, nowhere if space.grants else runnable)


def _runnable(platform: Platform, tenant: Tenant) -> list[tuple[Runtime, Quota]]:
    """Return the runtimes that a team could use on whole nodes of a pool, were there enough of them."""
    listed = [each for each in platform.runtimes if each.name in tenant.team.runtimes]
    return [
        (runtime, flavor.quota)
        for runtime in listed
        for flavor in held(tenant)
        if flavor.pool.hardware.name in runtime.hardware
        and not flavor.quota.is_share
        and runtime.max_nodes >= runtime.launcher.smallest_job
    ]


def _unfit(
    tenant: Tenant, space: Space, runnable: list[tuple[Runtime, Quota]]
) -> Iterator[Diagnostic]:
    for runtime, quota in sorted(runnable, key=lambda each: each[1].maximum)[-1:]:
        smallest = runtime.launcher.smallest_job
        pods = f"{counted(smallest, 'node')}: the launcher's and one more"
        takes = f"the smallest with runtime `{runtime.name}` takes {pods}"
        if quota.maximum < smallest:
            message = f"team {tenant.name} reaches {reached(quota)}, and of its jobs {takes}"
            yield RULE.at(quota.place, message)
        else:
            most = (
                f"jobs in `{space.namespace}` have {counted(space.profile.largest_job, 'node')} "
                "at most"
            )
            hint = (
                f"Set `largestJob: {{nodes: {smallest}}}` or more; team {tenant.name} reaches "
                f"{reached(quota)}."
            )
            yield RULE.at(space.profile.largest_job_at, f"{most}, and {takes}", hint=hint)


CHECK = Check(RULE, find, each=("quota", "runtimes"))
