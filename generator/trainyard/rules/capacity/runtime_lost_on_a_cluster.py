"""Find clusters on which a team has too few nodes for its only runtime of a kind."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.model.tenant import Tenant
from trainyard.rules._check import Check
from trainyard.rules.capacity._jobs import display_maximum, offered_to, runnable

RULE = Rule(
    id="capacity/runtime-lost-on-a-cluster",
    severity=Severity.WARNING,
    summary="A team that runs MPI or torchrun on one cluster has nodes for it on each of its own.",
    why="""
        The runtime is not generated for the team there, and the admission policy refuses every job
        that names it, while the same job runs on the team's other cluster.
    """,
    fix="""
        Give the team two nodes there, or one of its own and one to `borrow`; or list a runtime with
        `maxNodes: 1`, whose jobs are one pod. If the team needs no such job there, waive this.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    tenants = [tenant for site in platform.sites for tenant in site.tenants]
    offered = {launch for tenant in tenants for launch in offered_to(tenant)}
    for tenant in tenants:
        yield from _lost(platform, tenant, offered)


def _lost(
    platform: Platform, tenant: Tenant, offered: set[tuple[str, str]]
) -> Iterator[Diagnostic]:
    """Yield the runtimes that a team has elsewhere, where it has others of another kind."""
    kinds = _kinds(tenant)
    wanted = sorted(runnable(platform, tenant), key=lambda each: each[1].maximum)
    best = {runtime.name: (runtime, quota) for runtime, quota in wanted}
    for runtime, quota in best.values() if kinds else ():
        is_lost = runtime.launcher.mpi not in kinds
        if is_lost and (tenant.name, runtime.name) in offered:
            kind = "MPI" if runtime.launcher.mpi else runtime.launcher.name
            message = (
                f"team {tenant.name} has no runtime for {kind} on cluster {quota.cluster}: it may "
                f"use {display_maximum(quota)}, and the smallest job with runtime "
                f"`{runtime.name}` takes {counted(runtime.smallest_job, 'node')}"
            )
            notes = [Note("its runtimes", tenant.team.at / "runtimes")]
            yield RULE.at(quota.place, message, notes=notes)


def _kinds(tenant: Tenant) -> set[bool]:
    """Return whether the runtimes that a team has on a cluster are for MPI."""
    return {launch.runtime.launcher.mpi for space in tenant.spaces for launch in space.launches}


CHECK = Check(RULE, find, each=("quota", "runtimes"))
