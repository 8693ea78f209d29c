"""The table: each resource and name of a team, was and becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from trainyard.adoption.amounts import difference, shown
from trainyard.adoption.model import Cell, Crew, Pool, Row, Share
from trainyard.adoption.queue_names import can_stay, classes_by_queue
from trainyard.adoption.queues import unused
from trainyard.adoption.quota import Site, cohorts_of, weight_of
from trainyard.model import names
from trainyard.model.facts import Body, Facts, place_of
from trainyard.model.lookup import mapping
from trainyard.model.quantity import counted

_OPEN = "choose"
_NONE = "-"
_SAME = "0"
_LED_ON = "the same name; the old one is deleted when the team moves"
"""The ClusterQueue of a LocalQueue can't be changed."""


def rows(site: Site, shares: Sequence[Share]) -> Iterator[Row]:
    """Yield the rows of each team: its resources on each pool, then its names."""
    known = {(share.team, share.pool): share for share in shares}
    for crew in site.crews:
        for pool in site.pools.values():
            if share := known.get((crew.name, pool.name)):
                yield from _of_pool(site, crew, pool, share)
        yield from (_homeless(crew, cell, site) for cell in crew.cells if not site.pool_of(cell))
        yield from (_weight(crew, queue) for queue in crew.queues)
        yield from _names(crew, site)


def _of_pool(site: Site, crew: Crew, pool: Pool, share: Share) -> Iterator[Row]:
    """Yield the rows of a pool, what is counted first."""
    cells = site.cells(crew, pool)
    every = {cell.resource for cell in cells}
    resources = sorted(every, key=lambda each: (each != pool.counted, each))
    for resource in resources:
        yield _row(crew, pool, share, [cell for cell in cells if cell.resource == resource])


def _row(crew: Crew, pool: Pool, share: Share, cells: Sequence[Cell]) -> Row:
    resource = cells[0].resource
    was = _was(crew, cells)
    becomes = _becomes(crew, pool, share, resource)
    flavor = ", ".join(sorted({cell.flavor for cell in cells} - {""})) or "any node"
    return Row(
        team=crew.name,
        pool=pool.name,
        resource=f"{resource} on {flavor}",
        was=_shown(resource, was),
        becomes=_shown(resource, becomes),
        difference=_differences(resource, was, becomes),
        why=_why(pool, share, resource),
    )


def _was(crew: Crew, cells: Sequence[Cell]) -> list[int | None]:
    """Return nominal quota, borrowing and lending limit; without a cohort the quota alone."""
    nominal = sum(cell.nominal for cell in cells)
    if not crew.cohort:
        return [nominal]
    borrow = [cell.borrow for cell in cells if cell.borrow is not None]
    lend = [cell.nominal if cell.lend is None else cell.lend for cell in cells]
    return [nominal, sum(borrow) if len(borrow) == len(cells) else None, sum(lend)]


def _becomes(crew: Crew, pool: Pool, share: Share, resource: str) -> list[int | str]:
    """Return the same of the drafts; `choose` for what somebody decides."""
    each = pool.per_node.get(resource, 0)
    lend = share.nodes if share.lend is None else share.lend * share.part
    parts = {"own": share.nodes, "borrow": share.borrow * share.part, "lend": lend}
    undecided = {*share.open}
    if share.own is None and share.lend is None:
        undecided.add("lend")
    found = [_OPEN if word in undecided else int(n * each) for word, n in parts.items()]
    return found if crew.cohort else found[:1]


def _shown(resource: str, amounts: Sequence[int | str | None]) -> str:
    found = (each if isinstance(each, str) else shown(resource, each) for each in amounts)
    return " / ".join(found)


def _differences(resource: str, was: Sequence[int | None], becomes: Sequence[int | str]) -> str:
    """Return the difference of each part; `0` alone where none differs."""
    found = []
    for before, after in zip(was, becomes, strict=True):
        if isinstance(after, str):
            found.append(after)
        elif before is None:
            found.append("limit")
        else:
            found.append(difference(resource, before, after))
    return _SAME if set(found) == {_SAME} else " / ".join(found)


def _why(pool: Pool, share: Share, resource: str) -> str:
    if resource not in pool.per_node:
        return "refused: the pool's nodes have none"
    if share.own is None:
        is_counted = resource == pool.counted
        return "whole nodes, or a part of one" if is_counted else "in proportion to the choice"
    own = share.unit.counted(share.own)
    if resource == pool.counted:
        return own
    return f"{own}; a node promises {shown(resource, pool.per_node[resource])}"


def _homeless(crew: Crew, cell: Cell, site: Site) -> Row:
    """Return the row of an amount that no single pool of the drafts has."""
    what = f"{cell.resource} on {cell.flavor or 'any node'}"
    was = _shown(cell.resource, _was(crew, [cell]))
    pools = site.flavors.get(cell.flavor, ())
    if len(pools) > 1 or not cell.flavor:
        return Row(crew.name, _OPEN, what, was, _OPEN, _OPEN, "several pools may be meant")
    minus = difference(cell.resource, cell.nominal, 0)
    return Row(crew.name, _NONE, what, was, "0", minus, "refused: no pool is drafted for it")


def _weight(crew: Crew, queue: Body) -> Row:
    was = str(mapping(dict(queue), "spec", "fairSharing").get("weight", "1"))
    what = f"weight of {place_of(queue)[1]}"
    if len(cohorts_of(crew)) != 1:
        why = "nothing is shared without a cohort"
        return Row(crew.name, _NONE, what, was, "1", _SAME if was == "1" else f"{was} to 1", why)
    weight = weight_of(crew)
    if weight is None:
        return Row(crew.name, _NONE, what, was, _OPEN, _OPEN, "a team has one whole number")
    return Row(crew.name, _NONE, what, was, str(weight), _SAME, "the weight of the team")


def _names(crew: Crew, site: Site) -> Iterator[Row]:
    """Yield the namespaces and queues under the names that they get."""
    for namespace in crew.spaces:
        yield _renamed(crew, "namespace", namespace, crew.kept(namespace))
    classes = classes_by_queue(crew, site)
    for namespace, queue, of in crew.local:
        yield _local(crew, namespace, queue, classes[of])
    for name, own in classes.items():
        yield _renamed(crew, "ClusterQueue", name, _all(names.cluster_queue(crew.name, ""), own))


def _local(crew: Crew, namespace: str, queue: str, classes: Sequence[str]) -> Row:
    """Return the row of a LocalQueue, which keeps a name that leads to one class of node."""
    was, stays = f"{namespace}/{queue}", can_stay(queue)
    if stays and len(classes) > 1:
        why = "one name leads to one class of node"
        return Row(crew.name, _NONE, "LocalQueue", was, _OPEN, _OPEN, why)
    keeps = queue == names.DEFAULT_QUEUE or (stays and classes)
    becomes = _all(f"{crew.kept(namespace)}/", [queue] if keeps else classes)
    row = _renamed(crew, "LocalQueue", was, becomes)
    return replace(row, why=_LED_ON) if was == becomes else row


def _all(prefix: str, ends: Sequence[str]) -> str:
    return " and ".join(f"{prefix}{end}" for end in ends) or _NONE


def _renamed(crew: Crew, kind: str, was: str, becomes: str) -> Row:
    same = was == becomes
    why = "the same name" if same else "a new object beside the old one"
    return Row(crew.name, _NONE, kind, was, becomes, _SAME if same else "name", why)


def sums(site: Site, shares: Sequence[Share], facts: Facts) -> Iterator[str]:
    """Yield what each pool promises before and after, and what overlaps."""
    for pool in site.pools.values():
        yield _promised(site, pool, [share for share in shares if share.pool == pool.name])
        if len(pool.kind.flavors) > 1:
            yield f"{pool.name}: flavors {', '.join(pool.kind.flavors)} are the same nodes"
    for queue, cells in unused(facts):
        amounts = [f"{shown(each.resource, each.nominal)} {each.resource}" for each in cells]
        yield f"ClusterQueue {queue} has {', '.join(amounts) or 'nothing'}, and no LocalQueue"


def _promised(site: Site, pool: Pool, shares: Sequence[Share]) -> str:
    before = _nominal(site, pool)
    after = sum((share.nodes for share in shares), Fraction(0))
    each = pool.per_node[pool.counted] or 1
    parts = [
        f"{pool.name}: {counted(pool.count, 'node')}",
        f"promised before {_nodes(Fraction(before, each))}, after {_nodes(after)}",
    ]
    if undecided := [share.team for share in shares if share.own is None]:
        parts.append(f"to choose: {', '.join(undecided)}")
    return "; ".join([*parts, *_free(pool, pool.count * each - before)])


def _nominal(site: Site, pool: Pool) -> int:
    """Return what all teams have of the counted resource."""
    cells = (cell for crew in site.crews for cell in site.cells(crew, pool))
    return sum(cell.nominal for cell in cells if cell.resource == pool.counted)


def _free(pool: Pool, free: int) -> Iterator[str]:
    if free < 0:
        yield f"the site promised {shown(pool.counted, -free)} of {pool.counted} too many"
    elif free and pool.counted != "cpu":
        yield f"{counted(free, 'GPU')} in nobody's quota"


def _nodes(number: Fraction) -> str:
    return "1 node" if number == 1 else f"{float(number):g} nodes"
