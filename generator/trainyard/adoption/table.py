"""The table: each resource and name of a team, was and becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from trainyard.adoption.amounts import difference, shown
from trainyard.adoption.model import Cell, Crew, Pool, Row, Share
from trainyard.adoption.queues import unused
from trainyard.adoption.quota import Site
from trainyard.model import names
from trainyard.model.facts import Facts, place_of
from trainyard.model.lookup import mapping
from trainyard.model.quantity import counted

_OPEN = "choose"
_NONE = "-"


def rows(site: Site, shares: Sequence[Share]) -> Iterator[Row]:
    """Yield the rows of each team: its resources on each pool, then its names."""
    known = {(share.team, share.pool): share for share in shares}
    for crew in site.crews:
        for pool in site.pools.values():
            if share := known.get((crew.name, pool.name)):
                yield from _of_pool(site, crew, pool, share)
        yield from (_homeless(crew, cell, site) for cell in crew.cells if not site.pool_of(cell))
        yield from _weights(crew)
        yield from _names(crew)


def _of_pool(site: Site, crew: Crew, pool: Pool, share: Share) -> Iterator[Row]:
    cells = site.cells(crew, pool)
    for resource in sorted(
        {cell.resource for cell in cells}, key=lambda each: (each != pool.counted, each)
    ):
        same = [cell for cell in cells if cell.resource == resource]
        yield _row(crew, pool, share, same)


def _row(crew: Crew, pool: Pool, share: Share, cells: Sequence[Cell]) -> Row:
    resource = cells[0].resource
    nominal = sum(cell.nominal for cell in cells)
    limits = [(cell.borrow, cell.lend) for cell in cells]
    was = " / ".join(
        [
            shown(resource, nominal),
            *(_limit(resource, [each[i] for each in limits], crew) for i in (0, 1)),
        ]
    )
    flavor = ", ".join(sorted({cell.flavor for cell in cells} - {""})) or "any node"
    what = f"{resource} on {flavor}"
    if share.own is None:
        return Row(crew.name, pool.name, what, was, _OPEN, _OPEN, _why_open(pool, resource))
    each = pool.per_node.get(resource, 0)
    becomes = [int(share.nodes * each), int(share.borrow * share.part * each)]
    lend = share.nodes if share.lend is None else share.lend * share.part
    ours = [shown(resource, amount) for amount in becomes]
    ours.append(shown(resource, int(lend * each)) if crew.cohort else _NONE)
    if not crew.cohort:
        ours[1] = _NONE
    return Row(
        crew.name,
        pool.name,
        what,
        was,
        " / ".join(ours),
        difference(resource, nominal, becomes[0]),
        _why(pool, share, resource, nominal - becomes[0]),
    )


def _limit(resource: str, limits: Sequence[int | None], crew: Crew) -> str:
    if not crew.cohort:
        return _NONE
    known = [limit for limit in limits if limit is not None]
    return shown(resource, sum(known) if len(known) == len(limits) else None)


def _why_open(pool: Pool, resource: str) -> str:
    if resource == pool.counted:
        return "whole nodes, or a part of one"
    return "in proportion to what is chosen"


def _why(pool: Pool, share: Share, resource: str, less: int) -> str:
    own = _counted(share)
    if resource not in pool.per_node:
        return "refused: the pool's nodes have none"
    if resource == pool.counted or not less:
        return own
    return f"{own}; each of {pool.name} promises {shown(resource, pool.per_node[resource])}"


def _counted(share: Share) -> str:
    return share.unit.counted(share.own or 0)


def _homeless(crew: Crew, cell: Cell, site: Site) -> Row:
    """Return the row of an amount that no single pool of the drafts has."""
    was = " / ".join(
        [shown(cell.resource, cell.nominal)]
        + [_limit(cell.resource, [limit], crew) for limit in (cell.borrow, cell.lend)]
    )
    what = f"{cell.resource} on {cell.flavor or 'any node'}"
    pools = site.flavors.get(cell.flavor, ())
    if len(pools) > 1 or not cell.flavor:
        return Row(crew.name, _OPEN, what, was, _OPEN, _OPEN, "several pools may be meant")
    minus = difference(cell.resource, cell.nominal, 0)
    return Row(crew.name, _NONE, what, was, "0", minus, "refused: no pool is drafted for it")


def _weights(crew: Crew) -> Iterator[Row]:
    for queue in crew.queues:
        weight = str(mapping(dict(queue), "spec", "fairSharing").get("weight", "1"))
        name = place_of(queue)[1]
        is_same = weight == "1"
        why = "all teams of a cohort weigh the same" if is_same else "refused: a team has no weight"
        yield Row(
            crew.name, _NONE, f"weight of {name}", weight, "1", "0" if is_same else _NONE, why
        )


def _names(crew: Crew) -> Iterator[Row]:
    """Yield the namespaces and queues under the names that they get."""
    for namespace in crew.namespaces:
        space = space_of(crew, namespace)
        yield _renamed(crew, "namespace", namespace, names.namespace(crew.name, space))
    for namespace, queue, of in crew.local:
        there = names.namespace(crew.name, space_of(crew, namespace))
        why = f"of {of}; jobs name `gpu` or `cpu`"
        yield Row(
            crew.name,
            _NONE,
            "LocalQueue",
            f"{namespace}/{queue}",
            f"{there}/gpu or cpu",
            "name",
            why,
        )
    for body in crew.queues:
        became = f"{names.cluster_queue(crew.name, 'gpu')} or {crew.name}-cpu"
        yield _renamed(crew, "ClusterQueue", place_of(body)[1], became)


def _renamed(crew: Crew, kind: str, was: str, becomes: str) -> Row:
    same = was in becomes.split(" or ")
    why = "the same name" if same else "a new object beside the old one"
    return Row(crew.name, _NONE, kind, was, becomes, "0" if same else "name", why)


def space_of(crew: Crew, namespace: str) -> str:
    """Return the name of a team's space; empty for its own namespace."""
    first = crew.namespaces[0]
    if namespace == first:
        return ""
    return namespace.removeprefix(f"{first}-").removeprefix(names.TEAM_PREFIX)


def sums(site: Site, shares: Sequence[Share], facts: Facts) -> Iterator[str]:
    """Yield what each pool promises before and after, and what overlaps."""
    for pool in site.pools.values():
        cells = [cell for crew in site.crews for cell in site.cells(crew, pool)]
        own = [cell for cell in cells if cell.resource == pool.counted]
        before = sum(cell.nominal for cell in own)
        after = sum((share.nodes for share in shares if share.pool == pool.name), Fraction(0))
        undecided = [
            share.team for share in shares if share.pool == pool.name and share.own is None
        ]
        each = pool.per_node[pool.counted] or 1
        line = (
            f"{pool.name}: {counted(pool.count, 'node')}; promised before "
            f"{_nodes(Fraction(before, each))}, after {_nodes(after)}"
        )
        if undecided:
            line += f" and what {', '.join(undecided)} get"
        free = pool.count * each - before
        if pool.counted != "cpu" and free > 0:
            line += f"; {counted(free, 'GPU')} in nobody's quota"
        if free < 0:
            line += f"; the site promised {shown(pool.counted, -free)} of {pool.counted} too many"
        yield line
        if len(pool.kind.flavors) > 1:
            yield f"{pool.name}: flavors {', '.join(pool.kind.flavors)} are the same nodes"
    yield from _unused(facts)


def _nodes(number: Fraction) -> str:
    return f"{float(number):g} nodes" if number != 1 else "1 node"


def _unused(facts: Facts) -> Iterator[str]:
    for queue, cells in unused(facts):
        amounts = [f"{shown(each.resource, each.nominal)} {each.resource}" for each in cells]
        yield f"ClusterQueue {queue} has {', '.join(amounts) or 'nothing'}, and no LocalQueue"
