"""Nodes in maintenance and the teams that do without them, as several rules compare them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from trainyard.model.ownership import Owners, owned_nodes, owners_of
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.team import Quota


@dataclass(frozen=True, slots=True)
class Balance:
    """A pool with nodes in maintenance.

    Args:
        owners: with the quota that the profiles state.
    """

    pool: Pool
    owners: Owners

    @property
    def left(self) -> Fraction:
        """Nodes that teams may use and that no team has now; negative when they have too many."""
        used = sum((quota.in_use.nodes for _, quota in self.owners), Fraction(0))
        return self.pool.in_use.promised - used

    @property
    def is_oversubscribed(self) -> bool:
        """Return whether the teams own too many nodes without any maintenance too."""
        return owned_nodes(self.owners) > self.pool.promised

    def quota(self, team: str) -> Quota | None:
        """Return a team's quota; None when it has none here."""
        return next((quota for tenant, quota in self.owners if tenant.name == team), None)


def balances(platform: Platform) -> Iterator[Balance]:
    """Yield each pool with nodes in maintenance."""
    for site in platform.sites:
        owners = owners_of(site)
        for pool in site.cluster.pools:
            if pool.maintenance:
                yield Balance(pool, owners[pool.name])


def smallest_step(quota: Quota) -> int:
    """Return the least that can be taken of a quota, in its unit: one node, or the whole share."""
    return quota.own if quota.is_share else 1
