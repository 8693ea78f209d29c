"""Compare the nodes that are in maintenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.change.impact.amounts import MaintenanceChange, OutOfUse
from trainyard.change.impact.model import Sides
from trainyard.change.impact.quotas import are_comparable
from trainyard.model.held import held_queues
from trainyard.model.platform import Site
from trainyard.model.pool import Pool


def maintenance_changes(sides: Sides) -> tuple[MaintenanceChange, ...]:
    """Return each pool whose maintenance differs, sorted; a pool that is removed is left out."""
    if sides.new is None or not are_comparable(sides):
        return ()
    old, new = _pools(sides.old), _pools(sides.new)
    held = _held(sides.old), _held(sides.new)
    found = (_change(old.get(name), pool, *held) for name, pool in sorted(new.items()))
    return tuple(each for each in found if each.before != each.after)


def _change(
    old: Pool | None, new: Pool, before: Mapping[str, set[str]], after: Mapping[str, set[str]]
) -> MaintenanceChange:
    was, now = before.get(new.name, set()), after.get(new.name, set())
    return MaintenanceChange(
        pool=new.name,
        nodes=new.nodes,
        before=_out_of_use(old) if old else (),
        after=_out_of_use(new),
        held=tuple(sorted(now - was)),
        released=tuple(sorted(was - now)),
    )


def _pools(site: Site | None) -> dict[str, Pool]:
    return {pool.name: pool for pool in site.cluster.pools} if site else {}


def _out_of_use(pool: Pool) -> tuple[OutOfUse, ...]:
    return tuple(OutOfUse(each.nodes, each.until, each.reason) for each in pool.maintenance)


def _held(site: Site | None) -> dict[str, set[str]]:
    """Return the held queues of each pool."""
    found: dict[str, set[str]] = {}
    for pool, queue in _held_on(site) if site else ():
        found.setdefault(pool, set()).add(queue)
    return found


def _held_on(site: Site) -> Iterator[tuple[str, str]]:
    held = held_queues(site)
    for tenant in site.tenants:
        for queue in tenant.queues:
            if queue.name in held:
                yield from ((flavor.name, queue.name) for flavor in queue.flavors)
