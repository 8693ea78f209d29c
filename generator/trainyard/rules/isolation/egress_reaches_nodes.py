"""Find ranges that overlap the cluster's own; those that are open to all are told of already."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.isolation._shared import egress_ranges

_OF_NODES = {22: "ssh", 2379: "etcd", 2380: "etcd", 10250: "the kubelet"}


_NODE_PORTS = range(30000, 32768)


RULE = Rule(
    id="isolation/egress-reaches-nodes",
    severity=Severity.WARNING,
    summary="A way out by address leads out of the cluster; pods are named by their namespace.",
    why="""
        OVN-Kubernetes judges a packet after service DNAT: an address of a service never matches, so
        the connection times out, and a range of pods opens the way to every namespace, the other
        teams' included. On the machines' own addresses each job could talk to ssh, etcd, the
        kubelets, and to the node ports of all teams.
    """,
    fix="Use `namespaces` and the pods' own port for what runs in the cluster.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for cluster, egress, i, network in egress_ranges(platform):
        port = next(filter(_of_nodes, egress.ports), None)
        on = {
            "pods": "",
            "services": "",
            "machines": port and f", on port {port}, {_of_nodes(port)}",
        }
        for name, where in on.items():
            own = cluster.networks[name]
            if where is not None and network.overlaps(own):
                message = (
                    f"egress `{egress.name}` leads to {network}, which overlaps {own} of the "
                    f"cluster's {name}{where}"
                )
                notes = [Note(f"the cluster's {name}", cluster.at / "networks" / name)]
                yield RULE.at(egress.at / "to" / i, message, notes=notes)


def _of_nodes(port: int) -> str:
    """Return what answers on a port of every node; nothing for the API server's and others."""
    return _OF_NODES.get(port, "a node port" if port in _NODE_PORTS else "")


CHECK = Check(RULE, find)
