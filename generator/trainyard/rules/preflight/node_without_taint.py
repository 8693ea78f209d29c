"""Find nodes of a pool without its taint."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.facts import Body, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mappings
from trainyard.model.readable import NODES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/node-without-taint",
    severity=Severity.ERROR,
    summary="Each node of a pool has the taint that its hardware states.",
    why="""
        Pods of others run there and use cpu and memory that quota has promised, so admitted jobs
        wait for room.
    """,
    fix="Set it, e.g. `kubectl taint node NODE KEY=true:NoSchedule`; pods that run stay.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    for pool, nodes in live.pools():
        key = pool.hardware.taint
        without = [place_of(node)[1] for node in nodes if key and not _has(node, key)]
        if without:
            message = f"nodes of pool `{pool.name}` lack the taint {key}:NoSchedule: {few(without)}"
            yield RULE.at(pool.at, message)


def _has(node: Body, key: str) -> bool:
    wanted = {"key": key, "effect": "NoSchedule"}
    return any(wanted.items() <= taint.items() for taint in mappings(node, "spec", "taints"))


LIVE = LiveCheck(RULE, find, (NODES,))
