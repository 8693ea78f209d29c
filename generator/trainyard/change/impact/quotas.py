"""Compare the quota of teams on both sides of a change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from trainyard.change.objects import Sides
from trainyard.diagnostics import Pointer
from trainyard.model.jobs import grants_on, largest_pods
from trainyard.model.money import Money
from trainyard.model.ownership import lent_by_others, owners_of
from trainyard.model.platform import Site
from trainyard.model.quantity import format_amount
from trainyard.model.queue import Flavor
from trainyard.model.team import Quota
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """An amount of a resource on both sides, in base units: millicores, bytes or a count."""

    resource: str
    before: int
    after: int

    @property
    def display(self) -> str:
        """Both amounts, e.g. ``cpu 210 -> 204``."""
        before = format_amount(self.resource, self.before)
        return f"{self.resource} {before} -> {format_amount(self.resource, self.after)}"


@dataclass(frozen=True, slots=True)
class QuotaChange:
    """A team's quota on one pool.

    Args:
        before, after: None where the team has no quota.
        reach_before, reach_after: nodes of the largest job that its queue can admit, fractions on a
            share of a node; 0 for none.
        resources: that its own nodes have, where they differ; GPUs first.
        month_before, month_after: what its own nodes cost; None without a quota or a price.
    """

    team: str
    pool: str
    before: Quota | None
    after: Quota | None
    reach_before: Fraction
    reach_after: Fraction
    resources: tuple[ResourceChange, ...]
    month_before: Money | None = None
    month_after: Money | None = None


def resource_changes(old: Mapping[str, int], new: Mapping[str, int]) -> tuple[ResourceChange, ...]:
    """Return each resource whose amount differs; devices such as GPUs first."""
    changes = []
    for resource in sorted({*old, *new}, key=lambda resource: ("/" not in resource, resource)):
        before, after = old.get(resource, 0), new.get(resource, 0)
        if before != after:
            changes.append(ResourceChange(resource, before, after))
    return tuple(changes)


class Move(NamedTuple):
    """A team's own nodes on both sides."""

    team: str
    before: Fraction
    after: Fraction


@dataclass(frozen=True, slots=True)
class Transfer:
    """Nodes of a pool that some teams lose and others gain in one change.

    Args:
        givers, takers: by name.
    """

    pool: str
    givers: tuple[Move, ...]
    takers: tuple[Move, ...]


def quota_changes(sides: Sides) -> tuple[QuotaChange, ...]:
    """Return each team's quota on a pool that differs, sorted by team and pool."""
    old, new = _both(sides.in_use)
    # A team pays for nodes in maintenance too, which last a weekend and no month.
    before, after = sides.tenants
    months_before, months_after = dict(_months(before)), dict(_months(after))
    changes = []
    for key in sorted({*old, *new}):
        was, now = old.get(key, _NO_SHARE), new.get(key, _NO_SHARE)
        if was.numbers != now.numbers:
            resources = resource_changes(was.resources, now.resources)
            quotas, reaches = (was.quota, now.quota), (was.reach, now.reach)
            months = months_before.get(key), months_after.get(key)
            changes.append(QuotaChange(*key, *quotas, *reaches, resources, *months))
    return tuple(changes)


def transfers(sides: Sides) -> tuple[Transfer, ...]:
    """Return each pool of which some teams lose nodes and others gain some, sorted by pool."""
    old, new = _both(sides)
    givers: dict[str, list[Move]] = defaultdict(list)
    takers: dict[str, list[Move]] = defaultdict(list)
    for team, pool in sorted({*old, *new}):
        was, now = old.get((team, pool), _NO_SHARE), new.get((team, pool), _NO_SHARE)
        if was.nodes != now.nodes:
            side = givers if now.nodes < was.nodes else takers
            side[pool].append(Move(team, was.nodes, now.nodes))
    both = sorted(givers.keys() & takers.keys())
    return tuple(Transfer(pool, tuple(givers[pool]), tuple(takers[pool])) for pool in both)


@dataclass(frozen=True, slots=True)
class _Share:
    """A team's quota on a pool, and the largest job that it admits.

    Args:
        quota: None where the team has none.
        reach: nodes of that job, fractions on a share of a node.
        node: resources of one node, in base units.
    """

    quota: Quota | None = None
    reach: Fraction = Fraction(0)
    node: Mapping[str, int] = field(default_factory=dict)

    @property
    def nodes(self) -> Fraction:
        """The team's own nodes."""
        return self.quota.nodes if self.quota else Fraction(0)

    @property
    def resources(self) -> dict[str, int]:
        """What these nodes have, in base units; a part of one is rounded down."""
        return {resource: int(amount * self.nodes) for resource, amount in self.node.items()}

    @property
    def numbers(self) -> tuple[object, ...]:
        """What differs if the quota does, wherever the profile states it."""
        quota = replace(self.quota, at=_ANYWHERE) if self.quota else None
        return quota, self.reach, self.node


_NO_SHARE = _Share()
_ANYWHERE = Pointer("")
_Shares = Mapping[tuple[str, str], _Share]
"""(team, pool) -> its quota."""


def _both(sides: Sides) -> tuple[_Shares, _Shares]:
    if not sides.are_comparable:
        return {}, {}
    return dict(_shares(sides.old, sides.renamed)), dict(_shares(sides.new, {}))


def _shares(
    site: Site | None, renamed: Mapping[str, str]
) -> Iterator[tuple[tuple[str, str], _Share]]:
    """Yield each team's quota on each pool; retired teams have none."""
    if site is None:
        return
    most = most_nodes(site)
    owners = owners_of(site)
    for pool in site.cluster.pools:
        for tenant, quota in owners[pool.name]:
            nodes = most[tenant.name, pool.name]
            reach = _reach(tenant, Flavor(pool, quota), nodes)
            share = _Share(quota, reach, pool.hardware.allocatable)
            yield (renamed.get(tenant.name, tenant.name), pool.name), share


def most_nodes(site: Site) -> dict[tuple[str, str], Fraction]:
    """Return the nodes of each pool on which jobs of each team can run at a time, at most."""
    found = {}
    owners = owners_of(site)
    for pool in site.cluster.pools:
        lent = lent_by_others(site.cluster, owners[pool.name])
        for tenant, quota in owners[pool.name]:
            borrowed = min(quota.borrow, lent.get(tenant.name, Fraction(0)))
            found[tenant.name, pool.name] = min(quota.nodes + borrowed, Fraction(pool.promised))
    return found


def _reach(tenant: Tenant, flavor: Flavor, nodes: Fraction) -> Fraction:
    """Return the nodes of the largest job that a team's queue can admit on a pool."""
    if not tenant.state_of(flavor).is_open:
        return Fraction(0)
    sizes = (largest_pods(grant, nodes) * grant.launch.part for grant in grants_on(tenant, flavor))
    return max(sizes, default=Fraction(0))


def _months(tenants: Mapping[str, Tenant]) -> Iterator[tuple[tuple[str, str], Money]]:
    """Yield what each team's own nodes of each pool with a price cost in a month."""
    for name, tenant in tenants.items():
        for flavor in tenant.flavors:
            if flavor.pool.price:
                yield (name, flavor.name), flavor.pool.price.month(flavor.quota.nodes)
