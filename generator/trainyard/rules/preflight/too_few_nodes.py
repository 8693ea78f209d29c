"""Find pools with fewer nodes than their profile states."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import Body, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mapping
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted
from trainyard.model.readable import NODES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/too-few-nodes",
    severity=Severity.ERROR,
    summary="A pool has as many nodes that take pods as its profile states.",
    why="""
        Kueue admits jobs up to the quota, which is made of these nodes. An admitted job then has
        pods that are Pending until a node comes, and holds its quota.
    """,
    fix="""
        Set the pool's labels on the other nodes and uncordon them, state the cordoned ones under
        `maintenance`, or lower `nodes`.
    """,
)


def find(live: Live) -> Iterator[Diagnostic]:
    for pool, nodes in live.pools():
        cordoned = [node for node in nodes if _is_cordoned(node, pool)]
        if len(nodes) - len(cordoned) < pool.nodes:
            less = f", {len(cordoned)} of them cordoned" if cordoned else ""
            labels = ", ".join(f"{key}={value}" for key, value in sorted(pool.labels.items()))
            message = (
                f"pool `{pool.name}` has {counted(pool.nodes, 'node')} in the profile, and its "
                f"labels ({labels}) select {len(nodes)}{less}"
            )
            yield RULE.at(pool.at / "nodes", message)


def _is_cordoned(node: Body, pool: Pool) -> bool:
    """Return whether a node takes no pods, and is not in maintenance by the profile."""
    is_open = mapping(node, "spec").get("unschedulable") is not True
    return not is_open and place_of(node)[1] not in pool.out_of_use


LIVE = LiveCheck(RULE, find, (NODES,))
