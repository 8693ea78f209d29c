"""Nodes of one type, as `kubectl get node` prints them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from trainyard.diagnostics import TreeError
from trainyard.model.lookup import mapping, text
from trainyard.model.quantity import parse_amount

Body = dict[str, Any]

COMMAND = "kubectl get node NODE -o json"
PORTS = "SriovNetworkNodeState"
NUMA = "NodeResourceTopology"
"""Of NFD's topology updater: a zone of type Node for each NUMA node
(kubernetes-sigs/node-feature-discovery:docs/usage/nfd-topology-updater.md)."""

_NODE = "Node"
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_MOST = 5000
"""Nodes of one file, as of a pool."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Nodes of one type, and what else is known of them.

    Args:
        nodes: bodies of Nodes.
        others: bodies of other kinds, of the same nodes.
    """

    nodes: Sequence[Body]
    others: Sequence[Body]

    @property
    def first(self) -> str:
        """Name of the node that facts are quoted from."""
        return text(self.nodes[0], "metadata", "name")

    def common(self, what: str, of: Callable[[Body], str]) -> str:
        """Return what all nodes have alike.

        Raises:
            TreeError: two of them differ.
        """
        own = of(self.nodes[0])
        for node in self.nodes[1:]:
            if of(node) != own:
                name = text(node, "metadata", "name")
                raise TreeError(
                    f"nodes {self.first} and {name} differ in {what}: {own[:60]!r} and "
                    f"{of(node)[:60]!r}; hand in nodes of one type"
                )
        return own

    def least(self, group: str, resource: str) -> int:
        """Return the least amount of a resource that a node has, 0 if one has none.

        Raises:
            TreeError: it is not a quantity.
        """
        return min(amount(node, group, resource) for node in self.nodes)

    def of_kind(self, kind: str) -> Body:
        """Return the object of a kind of the first node; empty without one."""
        named = (body for body in self.others if body["kind"] == kind)
        return next((body for body in named if text(body, "metadata", "name") == self.first), {})


def measured(name: str, bodies: Sequence[Body]) -> Measured:
    """Return the nodes among some objects.

    Args:
        name: of the file, for messages.
        bodies: of Kubernetes objects.

    Raises:
        TreeError: there is no node, there are too many, or one has a name that none can have.
    """
    nodes = [body for body in bodies if body["kind"] == _NODE]
    if not 0 < len(nodes) <= _MOST:
        raise TreeError(f"{name} has {len(nodes)} Nodes; make it with `{COMMAND}`")
    for body in nodes:
        if not _NAME.fullmatch(text(body, "metadata", "name")):
            raise TreeError(f"{name} has a Node without a name that a node can have")
    return Measured(nodes, [body for body in bodies if body["kind"] in {PORTS, NUMA}])


def label(node: Body, key: str) -> str:
    """Return the value of a label; empty without it."""
    return str(mapping(node, "metadata", "labels").get(key, ""))


def amount(node: Body, group: str, resource: str) -> int:
    """Return an amount of a node in whole cores, bytes or pieces.

    Raises:
        TreeError: it is not a quantity.
    """
    return int(exact(node, group, resource))


def exact(node: Body, group: str, resource: str) -> Fraction:
    """Return an amount of a node.

    Raises:
        TreeError: it is not a quantity.
    """
    stated = str(mapping(node, "status", group).get(resource, "0"))
    try:
        return parse_amount(stated[:40])
    except ValueError as error:
        name = text(node, "metadata", "name")
        raise TreeError(f"node {name}: `status.{group}.{resource}` is {error}") from error
