"""Dedicated nodes: quota on the team's pools, and what keeps other pods away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from trainyard.model.named import by_name
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor
from trainyard.model.tenant import Tenant
from trainyard.render.measures.answer import ANSWERED, OPEN, Answer, SiteObjects, listed

Pools: TypeAlias = Mapping[str, Pool]
"""Pools on which the team has quota, by name."""


def nodes(tenant: Tenant, place: SiteObjects) -> Answer:
    """Answer with the holders of quota on the team's pools, and the taints of their nodes."""
    own = by_name(flavor.pool for flavor in tenant.flavors)
    holders = [holder for holder in place.site.tenants if _flavors(holder, own)]
    queues = place.of("ClusterQueue", by_name(tenant.queues))
    how = f"quota on {listed(own)} is held by: {listed(by_name(holders))}"
    if not _are_dedicated(own, holders, tenant):
        how += "; the nodes are not dedicated"
        return Answer(how, [*queues, *place.of("ResourceFlavor", own)], OPEN)
    others = _tolerating(place.site.cluster.pools, own)
    kept, state = _kept_away(own, others)
    how += f", all under the regulation; none is lent or borrowed; {kept}"
    return Answer(how, [*queues, *place.of("ResourceFlavor", {**own, **others})], state)


def _flavors(tenant: Tenant, pools: Pools) -> list[Flavor]:
    """Return a team's quota on some pools."""
    return [flavor for flavor in tenant.flavors if flavor.name in pools]


def _are_dedicated(pools: Pools, holders: Sequence[Tenant], tenant: Tenant) -> bool:
    """Return whether the pools have taints, and their quota belongs to the regulation's teams only.

    None of it may be lent or borrowed.
    """
    for holder in holders:
        if holder.team.compliance != tenant.team.compliance:
            return False
        if any(flavor.quota.lend or flavor.quota.borrow for flavor in _flavors(holder, pools)):
            return False
    return all(pool.hardware.taint for pool in pools.values())


def _tolerating(pools: Sequence[Pool], own: Pools) -> dict[str, Pool]:
    """Return the pools whose pods tolerate the taint of one of some others."""
    taints = {pool.hardware.taint for pool in own.values()}
    others = (pool for pool in pools if pool.name not in own)
    return by_name(pool for pool in others if pool.hardware.taint in taints)


def _kept_away(own: Pools, others: Pools) -> tuple[str, str]:
    """Return what keeps other pods off tainted nodes, and the state that follows.

    Args:
        own: the pools.
        others: pools with one of their taints: pods that are admitted to them tolerate it.
    """
    taints = listed(pool.hardware.taint for pool in own.values())
    how = (
        f"the taint {taints}, which the nodes' owner sets, keeps away pods that do not tolerate it"
    )
    if not others:
        return how, ANSWERED
    how += f"; pods that are admitted to {listed(others)} tolerate it"
    overlapping = [name for name, other in others.items() if not _excludes(other, own)]
    if overlapping:
        names = listed(overlapping)
        return f"{how}, and the node selector of {names} does not exclude these nodes", OPEN
    return f"{how}; the node selector that Kueue adds to them keeps them away", ANSWERED


def _excludes(other: Pool, pools: Pools) -> bool:
    """Return whether the node selector of a pool's pods excludes the nodes of all other pools."""
    selector = other.labels
    for pool in pools.values():
        labels = pool.labels
        # Nodes may have labels that their pool does not state, but of each key one value.
        if {**labels, **selector} == {**selector, **labels}:
            return False
    return True
