"""Dedicated nodes: quota on the team's pools, and what keeps other pods away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor
from trainyard.model.tenant import Tenant
from trainyard.render.measures.answer import ANSWERED, OPEN, Answer, SiteObjects, listed

Pools: TypeAlias = Mapping[str, Pool]
"""Pools on which the team has quota, by name."""


def nodes(tenant: Tenant, place: SiteObjects) -> Answer:
    """Answer with the holders of quota on the team's pools, and the taints of their nodes."""
    own = {flavor.name: flavor.pool for flavor in _flavors(tenant)}
    holders = {each.name: each for each in place.site.tenants if _holds(each, own)}
    queues = place.of("ClusterQueue", {queue.name for queue in tenant.queues})
    how = f"quota on {listed(own)} is held by: {listed(holders)}"
    if not _are_dedicated(own, list(holders.values()), tenant):
        how += "; the nodes are not dedicated"
        return Answer(how, [*queues, *place.of("ResourceFlavor", own)], OPEN)
    others = {pool.name: pool for pool in place.site.cluster.pools if _tolerates(pool, own)}
    kept, state = _kept_away(list(own.values()), list(others.values()))
    how += f", all under the regulation; none is lent or borrowed; {kept}"
    return Answer(how, [*queues, *place.of("ResourceFlavor", {**own, **others})], state)


def _flavors(tenant: Tenant) -> list[Flavor]:
    return [flavor for queue in tenant.queues for flavor in queue.flavors]


def _holds(tenant: Tenant, pools: Pools) -> bool:
    """Return whether a team has quota on one of some pools."""
    return any(flavor.name in pools for flavor in _flavors(tenant))


def _are_dedicated(pools: Pools, holders: Sequence[Tenant], tenant: Tenant) -> bool:
    """Return whether the pools have taints, and their quota belongs to the regulation's teams only.

    None of it may be lent or borrowed.
    """
    tainted = all(pool.hardware.taint for pool in pools.values())
    shared = any(_shares(holder, pools) for holder in holders)
    foreign = any(holder.team.compliance != tenant.team.compliance for holder in holders)
    return tainted and not shared and not foreign


def _shares(tenant: Tenant, pools: Pools) -> bool:
    """Return whether a team lends or borrows nodes of one of some pools."""
    quotas = (flavor.quota for flavor in _flavors(tenant) if flavor.name in pools)
    return any(quota.lend or quota.borrow for quota in quotas)


def _tolerates(other: Pool, pools: Pools) -> bool:
    """Return whether pods that are admitted to another pool tolerate the taint of one of some."""
    taints = {pool.hardware.taint for pool in pools.values()}
    return other.name not in pools and other.hardware.taint in taints


def _kept_away(own: Sequence[Pool], others: Sequence[Pool]) -> tuple[str, str]:
    """Return what keeps other pods off tainted nodes, and the state that follows.

    Args:
        own: the pools.
        others: pools with one of their taints: pods that are admitted to them tolerate it.
    """
    taints = listed(pool.hardware.taint for pool in own)
    how = (
        f"the taint {taints}, which the nodes' owner sets, keeps away pods that do not tolerate it"
    )
    if not others:
        return how, ANSWERED
    how += f"; pods that are admitted to {listed(pool.name for pool in others)} tolerate it"
    overlapping = [other.name for other in others if not _excludes(other, own)]
    if overlapping:
        names = listed(overlapping)
        return f"{how}, and the node selector of {names} does not exclude these nodes", OPEN
    return f"{how}; the node selector that Kueue adds to them keeps them away", ANSWERED


def _excludes(other: Pool, pools: Sequence[Pool]) -> bool:
    """Return whether the node selector of a pool's pods excludes the nodes of all other pools."""
    selector = other.hardware.labels
    return not any(_may_have(pool.hardware.labels, selector) for pool in pools)


def _may_have(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Return whether nodes with some labels may have those of a selector: no value differs."""
    return all(labels.get(key, value) == value for key, value in selector.items())
