"""The jobs that a team may submit, and phrases about them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.model.runtime import Runtime
from trainyard.model.team import Quota, Team, TeamSpace
from trainyard.model.tenant import Tenant


def largest_job(team: Team, space: TeamSpace) -> str:
    """Return the beginning of a message about the largest job of a namespace."""
    return f"team {team.name} may submit a job of {counted(space.largest_job, 'node')}"


def display_maximum(quota: Quota) -> str:
    """Return the most that one job can use of a pool, with its own and borrowed parts."""
    own, borrowed = quota.units(quota.nodes), quota.units(quota.borrow)
    maximum = quota.display(quota.maximum)
    return f"{maximum} of pool `{quota.pool}` ({own} own, {borrowed} borrowed)"


def offered_to(tenant: Tenant) -> Iterator[tuple[str, str]]:
    """Yield the team and each runtime that some namespace of it has on a cluster."""
    for space in tenant.spaces:
        for launch in space.launches:
            yield tenant.name, launch.runtime.name


def runnable(platform: Platform, tenant: Tenant) -> Iterator[tuple[Runtime, Quota]]:
    """Yield the runtimes that a team could use on whole nodes of a pool if it had enough."""
    for runtime in platform.runtimes:
        if runtime.name in tenant.team.runtimes:
            for flavor in tenant.flavors:
                if flavor.pool.hardware.name in runtime.hardware and not flavor.quota.is_share:
                    yield runtime, flavor.quota
