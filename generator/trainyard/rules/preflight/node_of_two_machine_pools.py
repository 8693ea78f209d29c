"""Find nodes of a pool that another MachineConfigPool selects too."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.differences import few
from trainyard.model.facts import Body, labels_of, named, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mapping
from trainyard.model.readable import MACHINE_POOLS, NODES
from trainyard.model.selector import selects
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/node-of-two-machine-pools",
    severity=Severity.ERROR,
    summary="A node of a pool is in no other custom MachineConfigPool.",
    why="""
        The machine-config operator stops at such a node: it gets neither the kubelet of its pool
        nor an upgrade (machine-config-operator:pkg/helpers/helpers.go).
    """,
    fix="Take the nodes out of the other pool's selector, before they get the label of this one.",
)
_USUAL = frozenset({"master", "worker"})
"""OpenShift's own: a custom pool takes nodes out of `worker`."""


def find(live: Live) -> Iterator[Diagnostic]:
    ours = live.made(MACHINE_POOLS)
    known = {each.name for each in ours} | _USUAL
    others = named(live.of(MACHINE_POOLS))
    for manifest in ours:
        for name in sorted(others.keys() - known):
            both = list(_nodes_of_both(live, manifest.body, others[name]))
            if both:
                message = f"MachineConfigPool `{name}` selects nodes of `{manifest.name}` too"
                yield RULE.at(manifest.at, f"{message}: {few(both)}")


def _nodes_of_both(live: Live, one: Body, other: Body) -> Iterator[str]:
    """Yield the names of the nodes that two pools select; one without a selector has none."""
    selectors = [mapping(dict(each), "spec", "nodeSelector") for each in (one, other)]
    for node in live.of(NODES):
        if all(each and selects(each, labels_of(node)) for each in selectors):
            yield place_of(node)[1]


def _has_pools(live: Live) -> bool:
    return bool(live.made(MACHINE_POOLS))


LIVE = LiveCheck(RULE, find, (MACHINE_POOLS, NODES), concerns=_has_pools)
