"""What a ClusterQueue and a LocalQueue on the cluster hold and promise, beside the tree's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from trainyard.change.impact.quotas import QuotaChange, resource_changes
from trainyard.change.impact.stops import StopChange
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model.identity import Identity, identity, team_of
from trainyard.model.lookup import EVERY, mappings, text, value_at
from trainyard.model.manifest import Manifest
from trainyard.model.quantity import in_base_units
from trainyard.model.queue import Flavor
from trainyard.model.state import word_of
from trainyard.model.team import Quota

_POLICY = "spec.stopPolicy"


def stopped(sides: Sides, authors: Mapping[Identity, str]) -> tuple[StopChange, ...]:
    """Return each queue that somebody held, drained or opened by hand.

    Args:
        sides: the tree, and the cluster.
        authors: since when and by whom objects of the tree differ.
    """
    changes = []
    for old, new in _pairs(sides, "ClusterQueue", "LocalQueue"):
        before, after = (word_of(value_at(each.body, _POLICY)) for each in (old, new))
        if before != after:
            whose = f"{old.name} of {old.namespace}" if old.namespace else old.name
            hand = " ".join(filter(None, ("by hand", authors.get(identity(old), ""))))
            cause = f"{before} in the tree; {hand}" if after == "active" else hand
            changes.append(StopChange(team_of(old), whose, before, after, cause))
    return tuple(changes)


def promised(sides: Sides) -> tuple[QuotaChange, ...]:
    """Return each quota that somebody changed by hand; of pools that the tree has for the team."""
    changes = []
    for old, new in _pairs(sides, "ClusterQueue"):
        for flavor in _flavors(sides, old.name):
            before, after = (_amounts(each, flavor.name) for each in (old, new))
            if before != after:
                changes.append(_change(team_of(old), flavor, before, after))
    return tuple(change for change in changes if change.resources or change.before != change.after)


def _pairs(sides: Sides, *kinds: str) -> Iterator[tuple[Manifest, Manifest]]:
    """Yield the objects of some kinds that differ, of the tree and of the cluster."""
    after: Objects = sides.after
    for old in of_kind(sides.before, *kinds):
        new = after.get(identity(old))
        if new is not None and new is not old:
            yield old, new


def _flavors(sides: Sides, queue: str) -> Iterator[Flavor]:
    """Yield a team's quota on each pool of a queue, in use."""
    for tenant in sides.new.tenants if sides.new else ():
        for each in tenant.in_use.queues:
            if each.name == queue:
                yield from each.flavors


@dataclass(frozen=True, slots=True)
class _Amounts:
    """What a queue has of a flavor, by resource, in base units."""

    nominal: Mapping[str, int]
    borrow: Mapping[str, int]
    lend: Mapping[str, int]


def _amounts(queue: Manifest, flavor: str) -> _Amounts:
    """Return the amounts of a flavor; those without a limit, or in another form, are left out."""
    found: dict[str, dict[str, int]] = {
        "nominalQuota": {},
        "borrowingLimit": {},
        "lendingLimit": {},
    }
    for each in mappings(queue.body, "spec", "resourceGroups", EVERY, "flavors"):
        for resource in mappings(each, "resources") if each.get("name") == flavor else ():
            name = text(resource, "name")
            for field, amounts in found.items():
                try:
                    amounts[name] = in_base_units(name, str(resource[field]))
                except (KeyError, ValueError):
                    continue
    return _Amounts(*found.values())


def _change(team: str, flavor: Flavor, before: _Amounts, after: _Amounts) -> QuotaChange:
    """Return the change of a quota in nodes where all resources have so many, and as amounts."""
    quota = flavor.quota.in_use
    changed = replace(
        quota,
        nodes=_nodes(flavor, after.nominal, quota.nodes),
        borrow=_nodes(flavor, after.borrow, quota.borrow),
        lend=_nodes(flavor, after.lend, quota.lend),
    )
    resources = resource_changes(before.nominal, after.nominal)
    none = Fraction(0)
    return QuotaChange(team, flavor.name, quota, _plain(changed), none, none, resources)


def _plain(quota: Quota) -> Quota:
    return replace(quota, withheld=Fraction(0))


def _nodes(flavor: Flavor, amounts: Mapping[str, int], otherwise: Fraction) -> Fraction:
    """Return the nodes that have such amounts; those of the tree where resources disagree."""
    node = {name: amount for name, amount in flavor.pool.countable.items() if amount}
    if not node.keys() <= amounts.keys():
        return otherwise
    nodes = {Fraction(amounts[name], amount) for name, amount in node.items()}
    if len(nodes) != 1:
        return otherwise
    (number,) = nodes
    exact = (number * flavor.quota.per_node).denominator == 1
    return number if exact else otherwise
