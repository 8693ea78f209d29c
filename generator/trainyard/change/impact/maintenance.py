"""Compare the nodes that are in maintenance."""

from __future__ import annotations

from collections import defaultdict

from trainyard.change.impact.amounts import MaintenanceChange, OutOfUse
from trainyard.change.impact.model import Sides
from trainyard.change.impact.places import pools_of
from trainyard.model.held import held_queues
from trainyard.model.platform import Site
from trainyard.model.pool import Pool


def maintenance_changes(sides: Sides) -> tuple[MaintenanceChange, ...]:
    """Return each pool whose maintenance differs, sorted; a pool that is removed is left out."""
    if sides.new is None or not sides.are_comparable:
        return ()
    before, after = pools_of(sides.old), pools_of(sides.new)
    held_before, held_after = _held(sides.old), _held(sides.new)
    changes = []
    for name, pool in sorted(after.items()):
        was = _out_of_use(before[name]) if name in before else ()
        if was != _out_of_use(pool):
            held = tuple(sorted(held_after[name] - held_before[name]))
            released = tuple(sorted(held_before[name] - held_after[name]))
            numbers = name, pool.nodes, was, _out_of_use(pool)
            changes.append(MaintenanceChange(*numbers, held, released))
    return tuple(changes)


def _out_of_use(pool: Pool) -> tuple[OutOfUse, ...]:
    return tuple(OutOfUse(each.nodes, each.until, each.reason) for each in pool.maintenance)


def _held(site: Site | None) -> dict[str, set[str]]:
    """Return the held queues of each pool."""
    pools: dict[str, set[str]] = defaultdict(set)
    held = held_queues(site) if site else ()
    for tenant in site.tenants if site else ():
        for queue in tenant.queues:
            if queue.name in held:
                for flavor in queue.flavors:
                    pools[flavor.name].add(queue.name)
    return pools
