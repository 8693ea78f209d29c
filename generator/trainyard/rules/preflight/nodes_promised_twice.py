"""Find pools whose nodes open queues of the tree and queues of the site promise together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.facts import Body, labels_of, named, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.pool import Pool
from trainyard.model.quantity import format_amount, in_base_units
from trainyard.model.readable import CLUSTER_QUEUES, FLAVORS, NODES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/nodes-promised-twice",
    severity=Severity.WARNING,
    summary="Queues of the tree that are open, and those of the site, promise no more than the "
    "nodes have.",
    why="""
        Kueue counts the flavors of each ClusterQueue for itself. Both admit jobs for the same
        nodes, and the pods of those beyond the hardware wait, with their quota taken. A queue that
        is held counts with what it has reserved.
    """,
    fix="""
        Hold the team's old ClusterQueue, and wait until it reserves nothing; then open the team's
        queues. `trainyard cutover` names the old queues.
    """,
    waivable=True,
)


def find(live: Live) -> Iterator[Diagnostic]:
    made = {manifest.name: manifest.body for manifest in live.made(CLUSTER_QUEUES)}
    others = [body for body in live.of(CLUSTER_QUEUES) if place_of(body)[1] not in made]
    for pool, nodes in live.pools():
        resource = pool.hardware.counted
        ours = _of_tree(made.values(), pool)
        taken = _of_site(others, _flavors(live, pool), resource)
        has = _for_teams(pool, nodes)
        if ours and taken and ours + sum(taken.values()) > has:
            message = (
                f"pool `{pool.name}` has {format_amount(resource, has)} {resource} for teams; open "
                f"queues of the tree promise {format_amount(resource, ours)}, and these of the "
                f"site admit or hold beside them: {_shown(taken, resource)}"
            )
            yield RULE.at(pool.at, message)


def _shown(taken: Mapping[str, int], resource: str) -> str:
    return few(f"{name} ({format_amount(resource, taken[name])})" for name in sorted(taken))


def _of_tree(queues: Iterable[Body], pool: Pool) -> int:
    """Return what the open queues of the tree promise of a pool."""
    open_ = filter(_is_open, queues)
    return sum(_nominal(body, {pool.name}, pool.hardware.counted) for body in open_)


def _for_teams(pool: Pool, nodes: Iterable[Body]) -> int:
    """Return what the nodes of a pool have, without its reserve."""
    resource = pool.hardware.counted
    reserve = pool.reserve * pool.countable.get(resource, 0)
    return sum(_offered(node, resource) for node in nodes) - reserve


def _of_site(others: Iterable[Body], flavors: set[str], resource: str) -> dict[str, int]:
    """Return what each queue of the site promises of a pool, without those that promise nothing."""
    taken = {place_of(body)[1]: _taken(body, flavors, resource) for body in others}
    return {name: amount for name, amount in taken.items() if amount}


def _is_open(queue: Body) -> bool:
    return text(dict(queue), "spec", "stopPolicy") in {"", "None"}


def _flavors(live: Live, pool: Pool) -> set[str]:
    """Return the flavors of the cluster that select nodes of a pool, and none of another one.

    Of a flavor that selects nodes of several pools nobody knows whose it promises.
    """
    every = [node for node in live.of(NODES) if _offered(node, pool.hardware.counted)]
    inside = _names(live.nodes_of(pool))
    found = set()
    for name, body in named(live.of(FLAVORS)).items():
        labels = mapping(dict(body), "spec", "nodeLabels").items()
        nodes = _names(node for node in every if labels <= labels_of(node).items())
        if nodes and nodes <= inside:
            found.add(name)
    return found


def _names(nodes: Iterable[Body]) -> set[str]:
    return {place_of(node)[1] for node in nodes}


def _taken(queue: Body, flavors: set[str], resource: str) -> int:
    """Return what a queue of the site promises; of one that is held, what it has reserved."""
    if _is_open(queue):
        return _nominal(queue, flavors, resource)
    reserved = mappings(dict(queue), "status", "flavorsReservation")
    return _sum(reserved, flavors, resource, "total")


def _nominal(queue: Body, flavors: set[str], resource: str) -> int:
    groups = mappings(dict(queue), "spec", "resourceGroups")
    each = (mappings(group, "flavors") for group in groups)
    return sum(_sum(part, flavors, resource, "nominalQuota") for part in each)


def _sum(parts: tuple[dict[str, object], ...], flavors: set[str], resource: str, key: str) -> int:
    named_ = (part for part in parts if text(part, "name") in flavors)
    cells = chain.from_iterable(mappings(part, "resources") for part in named_)
    return sum(_amount(resource, cell.get(key)) for cell in cells if cell.get("name") == resource)


def _offered(node: Body, resource: str) -> int:
    return _amount(resource, mapping(dict(node), "status", "allocatable").get(resource))


def _amount(resource: str, stated: object) -> int:
    """Return an amount in base units; 0 for what is not a quantity."""
    try:
        return in_base_units(resource, str(stated)[:40])
    except ValueError:
        return 0


LIVE = LiveCheck(RULE, find, (CLUSTER_QUEUES, FLAVORS, NODES))
