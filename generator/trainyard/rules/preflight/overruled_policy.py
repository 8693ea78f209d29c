"""Find SR-IOV policies of others that decide about ports of the tree."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import Body, labels_of, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mapping, texts, value_at
from trainyard.model.readable import NODE_POLICIES, NODES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/overruled-policy",
    severity=Severity.ERROR,
    summary="No SR-IOV policy of somebody else selects a port of the tree's.",
    why="""
        The operator applies policies in the order of falling priority numbers, then by name, and
        the last one decides about a port. It reports nothing, and the rails of these nodes get
        other functions (sriov-network-operator:api/v1/helper.go@v1.6.0).
    """,
    fix="Have its owner take the port out of the policy, or the pool's nodes out of its selector.",
)
_PRIORITY = 99
"""That the operator's webhook sets where a policy has none."""


def find(live: Live) -> Iterator[Diagnostic]:
    others = [body for body in live.of(NODE_POLICIES) if live.owner(body)]
    nodes = [labels_of(node) for node in live.of(NODES)]
    for manifest in live.made(NODE_POLICIES):
        for body in others:
            if _meet(manifest.body, body) and _share_a_node(nodes, manifest.body, body):
                name = place_of(body)[1]
                message = (
                    f"policies `{manifest.name}` and `{name}`, made by {live.owner(body)}, may "
                    f"select one port; `{_winner(manifest.body, body)}` decides"
                )
                yield RULE.at(manifest.at, message)


def _meet(ours: Body, other: Body) -> bool:
    """Return whether two policies may select one port: all that both state is the same."""
    one, two = (mapping(dict(body), "spec", "nicSelector") for body in (ours, other))
    if any(one.get(key) != two[key] for key in ("vendor", "deviceID") if two.get(key)):
        return False
    roots = set(texts(two, "rootDevices"))
    # Names of ports are not known before a node's state is: such a policy may meet any of ours.
    return not roots or not roots.isdisjoint(texts(one, "rootDevices"))


def _share_a_node(nodes: Collection[Body], ours: Body, other: Body) -> bool:
    """Return whether both policies select a node, by the labels of the nodes."""
    one, two = (mapping(dict(body), "spec", "nodeSelector").items() for body in (ours, other))
    return any(one <= labels.items() and two <= labels.items() for labels in nodes)


def _winner(one: Body, two: Body) -> str:
    """Return the name of the policy that is applied last."""
    return max((-_priority(body), place_of(body)[1]) for body in (one, two))[1]


def _priority(body: Body) -> int:
    stated = value_at(dict(body), "spec.priority")
    return stated if isinstance(stated, int) else _PRIORITY


def _has_policies(live: Live) -> bool:
    return bool(live.made(NODE_POLICIES))


LIVE = LiveCheck(RULE, find, (NODE_POLICIES, NODES), concerns=_has_policies)
