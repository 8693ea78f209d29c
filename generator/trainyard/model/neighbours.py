"""Teams whose pods reach each other by RDMA, because their fabric does not keep them apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.model.fabric import DeviceFabric
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.provider import Separation
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Pools without a border between them on a fabric, and who uses the fabric there.

    Args:
        pools: one, or all of the fabric where it separates nothing.
        tenants: with quota there and a runtime that uses the fabric; one alone has no neighbour.
    """

    fabric: DeviceFabric
    pools: tuple[Pool, ...]
    tenants: tuple[Tenant, ...]

    @property
    def name(self) -> str:
        """The place in words, e.g. ``pool p5``."""
        names = ", ".join(pool.name for pool in self.pools)
        return f"pool {names}" if len(self.pools) == 1 else f"pools {names}"


def neighbours(site: Site) -> Iterator[Neighbours]:
    """Yield the groups of pools on each fabric whose devices others advertise."""
    for fabric in site.cluster.device_fabrics:
        pools = site.cluster.pools_on(fabric)
        apart = fabric.provider.separation is Separation.POOLS
        for group in [(pool,) for pool in pools] if apart else [pools]:
            tenants = (each for each in site.tenants if _uses(each, fabric, group))
            yield Neighbours(fabric, group, tuple(tenants))


def _uses(tenant: Tenant, fabric: DeviceFabric, pools: tuple[Pool, ...]) -> bool:
    whole = fabric.provider.whole_nodes
    owned = (flavor.quota for flavor in tenant.flavors if flavor.pool in pools)
    # A share has nothing of a fabric that is for whole nodes: another rule refuses such a runtime.
    has_quota = any(quota.maximum > 0 and not (whole and quota.is_share) for quota in owned)
    return has_quota and any(launch.rdma == fabric for launch in tenant.launches)
