"""Find nodes with less allocatable than their pool's profile promises."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.facts import Body, place_of
from trainyard.model.live import BEFORE, Live
from trainyard.model.lookup import mapping
from trainyard.model.pool import Pool
from trainyard.model.quantity import format_amount, in_base_units
from trainyard.model.readable import NODES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/less-allocatable",
    severity=Severity.ERROR,
    summary="Each node of a pool has at least the allocatable that its profile promises.",
    why="""
        A job that asks for a whole node is admitted, and its pod is Pending: no node has as much.
    """,
    fix="""
        Repair the node or what advertises the resource, or state what the nodes have in the
        hardware profile: `trainyard add hardware NAME --from FILE` reads it.
    """,
)


def find(live: Live) -> Iterator[Diagnostic]:
    for pool, nodes in live.pools():
        for resource, promised in _promised(live, pool).items():
            least = min((_amount(node, resource) for node in nodes), default=promised)
            if least < promised:
                short = [place_of(node)[1] for node in nodes if _amount(node, resource) < promised]
                message = (
                    f"pool `{pool.name}` promises {format_amount(resource, promised)} of "
                    f"{resource} on a node; these have less: {few(short)}, as little as "
                    f"{format_amount(resource, least)}"
                )
                yield RULE.at(pool.at, message)


def _promised(live: Live, pool: Pool) -> dict[str, int]:
    """Return what is promised; virtual functions only where the tree has made them."""
    rails = {rail.resource for rail in pool.rails} if live.phase == BEFORE else set()
    return {name: amount for name, amount in pool.allocatable.items() if name not in rails}


def _amount(node: Body, resource: str) -> int:
    """Return what a node has of a resource, in base units; 0 for what is not a quantity."""
    stated = str(mapping(dict(node), "status", "allocatable").get(resource, "0"))
    try:
        return in_base_units(resource, stated[:40])
    except ValueError:
        return 0


LIVE = LiveCheck(RULE, find, (NODES,))
