"""Find nodes that the labels of several pools select."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import labels_of, place_of
from trainyard.model.live import Live
from trainyard.model.readable import NODES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/node-of-two-pools",
    severity=Severity.ERROR,
    summary="A node is in one pool at most.",
    why="""
        Both pools count the node, so that quota is given twice, and both set it up.
    """,
    fix="Remove the labels of one pool from the node.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    pools = live.site.cluster.pools
    for node in live.of(NODES):
        labels = labels_of(node).items()
        among = [pool for pool in pools if pool.labels.items() <= labels]
        if len(among) > 1:
            named = " and ".join(f"`{pool.name}`" for pool in among)
            yield RULE.at(among[0].at, f"node {place_of(node)[1]} is in the pools {named}")


LIVE = LiveCheck(RULE, find, (NODES,))
