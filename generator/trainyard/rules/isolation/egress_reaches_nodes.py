"""Find egress rules to the cluster's own networks; very large ranges have another rule."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.network import Egress
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.isolation._egress import egress_ranges

_NODE_SERVICES = {22: "ssh", 2379: "etcd", 2380: "etcd", 10250: "the kubelet"}


_NODE_PORTS = range(30000, 32768)


RULE = Rule(
    id="isolation/egress-reaches-nodes",
    severity=Severity.WARNING,
    summary="""
        An egress rule with addresses leads out of the cluster; for pods it names a namespace.
    """,
    why="""
        With a range of pods, jobs can reach every namespace, those of other teams included. With
        addresses of machines, each job can reach ssh, etcd, the kubelets, and the node ports of all
        teams. A service's address never matches, so the connection times out: OVN-Kubernetes
        evaluates a packet after service DNAT.
    """,
    fix="Use `namespaces` instead of `to`, with the pods' own port, for what runs in the cluster.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for cluster, egress, i, network in egress_ranges(platform):
        for name, suffix in _forbidden_networks(egress):
            own = cluster.networks[name]
            if network.overlaps(own):
                message = (
                    f"egress rule `{egress.name}` leads to {network}, which overlaps {own} of the "
                    f"cluster's {name}{suffix}"
                )
                notes = [Note(f"the cluster's {name}", cluster.at / "networks" / name)]
                yield RULE.at(egress.at / "to" / i, message, notes=notes)


def _forbidden_networks(egress: Egress) -> Iterator[tuple[str, str]]:
    """Yield each network that a rule may not lead to, with the end of the message."""
    yield "pods", ""
    yield "services", ""
    port = next(filter(_node_service, egress.ports), None)
    if port is not None:
        yield "machines", f", on port {port}, {_node_service(port)}"


def _node_service(port: int) -> str:
    """Return what answers on a port of every node; empty for other ports, as the API server's."""
    return _NODE_SERVICES.get(port, "a node port" if port in _NODE_PORTS else "")


CHECK = Check(RULE, find)
