"""Find nodes of a pool that are of another kind than its hardware profile."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.facts import Body, labels_of, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import text
from trainyard.model.pool import Pool
from trainyard.model.readable import NODES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/other-hardware",
    severity=Severity.ERROR,
    summary="Each node of a pool has the processors and the GPUs of its hardware profile.",
    why="""
        Jobs get nodes that their image can't run on, or that are slower than their neighbours: all
        ranks then wait for the slowest.
    """,
    fix="Remove the pool's labels from these nodes, or correct the hardware profile.",
)
_PRODUCT = "nvidia.com/gpu.product"


def find(live: Live) -> Iterator[Diagnostic]:
    for pool, nodes in live.pools():
        found: dict[str, list[str]] = {}
        for node in nodes:
            for fault in _faults(node, pool):
                found.setdefault(fault, []).append(place_of(node)[1])
        for fault, among in sorted(found.items()):
            yield RULE.at(pool.at, f"nodes of pool `{pool.name}` have {fault}: {few(among)}")


def _faults(node: Body, pool: Pool) -> Iterator[str]:
    """Yield what a node has instead of what its profile states; what it does not say is right."""
    architecture = text(dict(node), "status", "nodeInfo", "architecture")
    if architecture not in {"", pool.hardware.architecture}:
        yield f"processors of {architecture}, not {pool.hardware.architecture}"
    product = str(labels_of(node).get(_PRODUCT, ""))
    if pool.hardware.gpu and product not in {"", pool.hardware.gpu.product}:
        yield f"GPUs {product}, not {pool.hardware.gpu.product}"


LIVE = LiveCheck(RULE, find, (NODES,))
