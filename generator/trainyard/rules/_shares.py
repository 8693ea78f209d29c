"""Helpers of the rules about shares: quota in parts of a node instead of whole nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.diagnostics import Note
from trainyard.model.ownership import Owners, owners_of
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor
from trainyard.model.runtime import Runtime
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant


def pools(platform: Platform) -> Iterator[tuple[Pool, Owners]]:
    """Yield every pool with the teams that have quota on it."""
    for site in platform.sites:
        owners = owners_of(site)
        for pool in site.cluster.pools:
            yield pool, owners[pool.name]


def owner_notes(owners: Iterable[tuple[Tenant, Quota]]) -> list[Note]:
    """Return a note for each team that owns a share, with its size."""
    return [
        Note(f"team {tenant.name} owns {quota.display(quota.nodes)}", quota.place)
        for tenant, quota in owners
        if quota.is_share
    ]


def flavors_in_parts(platform: Platform) -> Iterator[tuple[Tenant, Flavor]]:
    """Yield each flavor on which a team has a share, with the team."""
    for site in platform.sites:
        for tenant in site.tenants:
            for flavor in tenant.flavors:
                if flavor.quota.is_share:
                    yield tenant, flavor


def runtimes(platform: Platform, tenant: Tenant, pool: Pool) -> list[Runtime]:
    """Return the runtimes that a team lists and that run on the nodes of a pool."""
    listed = (runtime for runtime in platform.runtimes if runtime.name in tenant.team.runtimes)
    return [each for each in listed if pool.hardware.name in each.hardware]
