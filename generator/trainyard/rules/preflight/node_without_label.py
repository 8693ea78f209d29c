"""Find nodes of a pool without the label of a level of its topology."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.facts import labels_of, place_of
from trainyard.model.live import Live
from trainyard.model.readable import NODES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/node-without-label",
    severity=Severity.ERROR,
    summary="Each node of a pool has the labels of the topology's levels.",
    why="""
        Kueue does not place jobs on a node without them, so the quota is larger than the nodes on
        which jobs can start.
    """,
    fix="Set the label on the nodes, with the name of what is above each.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    for pool, nodes in live.pools():
        for level in pool.topology.levels if pool.topology else ():
            without = [place_of(node)[1] for node in nodes if not labels_of(node).get(level)]
            if without:
                message = f"nodes of pool `{pool.name}` lack the label {level}: {few(without)}"
                yield RULE.at(pool.at, message)


LIVE = LiveCheck(RULE, find, (NODES,))
