"""The section with the topology: levels, and the nodes below them, as the profiles have them."""

from __future__ import annotations

from collections.abc import Iterator

from htpy import Element, Node, code, div, h3, h4, i, li, ol, p, span

from trainyard.model.fabric import Fabric, RailFabric
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.quantity import counted
from trainyard.model.topology import HOSTNAME, Topology
from trainyard.report.content import Content
from trainyard.report.elements import note, part

_DRAWN = 512  # nodes of a pool that are drawn, one square each


def topology(content: Content) -> Element:
    """Return the section."""
    return part(
        "topology",
        "Topology",
        note(
            "Profiles state the labels of each level and how many nodes are below one switch of "
            "the lowest. Only the cluster knows which node is where. A square is a node, and a "
            "dashed one is in reserve."
        ),
        ([h3[cluster.name], _cluster(cluster.site)] for cluster in content.clusters),
    )


def _cluster(site: Site) -> Iterator[Node]:
    for topology in site.cluster.topologies:
        yield _levels(topology)
        for pool in site.cluster.pools:
            if pool.topology == topology:
                yield _pool(pool, topology.leaf_nodes)
    others = [_pool(pool, 0) for pool in site.cluster.pools if pool.topology is None]
    if others:
        yield [h4["No topology"], others]


def _levels(topology: Topology) -> Node:
    return [
        h4[f"Topology {topology.name}"],
        p["Levels from the top:"],
        ol(".levels")[
            (li[code[level]] for level in topology.levels),
            li["host: ", code[HOSTNAME]],
        ],
    ]


def _fabric(fabric: Fabric | None) -> str:
    if fabric is None:
        return ", on no fabric"
    size = fabric.mtu if isinstance(fabric, RailFabric) else 0
    mtu = f", MTU {size}" if size else ""
    return f", on fabric {fabric.name} ({fabric.provider.name}{mtu})"


def _pool(pool: Pool, below_leaf: int) -> Node:
    rails = f", {counted(len(pool.rails), 'rail')} each" if pool.rails else ""
    switches = ""
    if below_leaf:
        leaves = -(-pool.nodes // below_leaf)
        noun = "switch" if leaves == 1 else "switches"
        switches = f"; {below_leaf} below one switch, so at least {leaves} {noun}"
    return [
        p[f"{pool.name}: {counted(pool.nodes, 'node')}{_fabric(pool.fabric)}{rails}{switches}."],
        _picture(pool, below_leaf) if pool.nodes <= _DRAWN else None,
    ]


def _picture(pool: Pool, below_leaf: int) -> Element:
    """Return a square for each node, those of the reserve last, in boxes of one switch each."""
    squares = [i(class_={"spare": node >= pool.promised}) for node in range(pool.nodes)]
    size = below_leaf or pool.nodes or 1
    box = span(class_={"leaf": bool(below_leaf)})
    boxes = (box[squares[start : start + size]] for start in range(0, pool.nodes, size))
    return div(".nodes", aria_hidden="true")[boxes]
