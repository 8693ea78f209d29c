"""Ways out of the teams' namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, collapse_addresses

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.network import Egress
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._walk import SHORTEST_PREFIX, ranges

LINK_LOCAL = IPv4Network("169.254.0.0/16")
_OF_NODES = {22: "ssh", 2379: "etcd", 2380: "etcd", 10250: "the kubelet"}
_NODE_PORTS = range(30000, 32768)

OPEN_EGRESS = Rule(
    id="isolation/open-egress",
    severity=Severity.ERROR,
    summary="A way out says where it leads: to namespaces, or to at most 16 million addresses (a /8) in all.",
    why=(
        "Whatever a job reads it can send to any host of the Internet, and the default-deny policy denies nothing: a"
        " NetworkPolicy without destinations matches every one, and the API server drops the empty list, so Argo CD"
        " shows no drift (seen with Argo CD 3.5.7)."
    ),
    fix="Name the networks that are needed: the object store, the mirror, the proxy.",
)
EGRESS_REACHES_A_TENANT = Rule(
    id="isolation/egress-reaches-a-tenant",
    severity=Severity.ERROR,
    summary="No way out leads into a team's namespace.",
    why="Ways out hold for every team: each could send to the pods of that one, on ports that its own jobs listen on.",
    fix="Serve what is shared from a namespace that belongs to no team.",
)
EGRESS_REACHES_NODES = Rule(
    id="isolation/egress-reaches-nodes",
    severity=Severity.WARNING,
    summary="A way out by address leads out of the cluster; pods are named by their namespace.",
    why=(
        "OVN-Kubernetes judges a packet after service DNAT: an address of a service never matches, so the connection"
        " times out, and a range of pods opens the way to every namespace, the other teams' included. On the machines'"
        " own addresses each job could talk to ssh, etcd, the kubelets, and to the node ports of all teams."
    ),
    fix="Use `namespaces` and the pods' own port for what runs in the cluster.",
)
EGRESS_REACHES_PLATFORM = Rule(
    id="isolation/egress-reaches-platform",
    severity=Severity.ERROR,
    summary="No way out leads to what runs the platform: Argo CD, and the controllers of jobs, queues and ports.",
    why=(
        "They trust the network that they are on, Argo CD's repository server and cache first of all: a job that"
        " reaches them may change what is delivered, or stop it."
    ),
    fix="Leave the namespace out; jobs need none of them.",
)
LINK_LOCAL_EGRESS = Rule(
    id="isolation/link-local-egress",
    severity=Severity.ERROR,
    summary="No way out leads to link-local addresses (169.254.0.0/16).",
    why="169.254.169.254 is a cloud's metadata service: it gives the node's credentials to whoever asks.",
    fix="Leave the range out.",
)


def open_egress(platform: Platform) -> Iterator[Diagnostic]:
    """Find ways out without destinations, ranges with a short prefix, and ranges that are many addresses together."""
    for egress in (each for site in platform.sites for each in site.cluster.egress):
        networks = [IPv4Network(cidr) for cidr in egress.cidrs]
        wide = [i for i, network in enumerate(networks) if network.prefixlen < SHORTEST_PREFIX]
        addresses = sum(network.num_addresses for network in collapse_addresses(networks))
        if not networks and not egress.namespaces:
            message = f"egress `{egress.name}` says neither `to` nor `namespaces`: {_ports(egress)} of every host"
            yield OPEN_EGRESS.at(egress.at.key(), message)
        for i in wide:
            message = f"egress `{egress.name}` leads to {networks[i]}: {networks[i].num_addresses:,} addresses"
            yield OPEN_EGRESS.at(egress.at / "to" / i, message)
        if not wide and addresses > 1 << 32 - SHORTEST_PREFIX:
            message = f"egress `{egress.name}` leads to {len(networks)} ranges with {addresses:,} addresses in all"
            yield OPEN_EGRESS.at(egress.at / "to", message)


def _ports(egress: Egress) -> str:
    return f"{'port' if len(egress.ports) == 1 else 'ports'} {', '.join(map(str, egress.ports))}"


def egress_reaches_a_tenant(platform: Platform) -> Iterator[Diagnostic]:
    """Find namespaces of teams among the ways out."""
    tenants = {names.namespace(team.name, space.name): team for team in platform.teams for space in team.spaces}
    for site in platform.sites:
        for egress in site.cluster.egress:
            for i, namespace in enumerate(egress.namespaces):
                if namespace in tenants:
                    team = tenants[namespace]
                    message = f"egress `{egress.name}` lets every team reach the namespace of team {team.name}"
                    yield EGRESS_REACHES_A_TENANT.at(
                        egress.at / "namespaces" / i, message, notes=[Note(f"team {team.name}", team.at)]
                    )


def egress_reaches_nodes(platform: Platform) -> Iterator[Diagnostic]:
    """Find ranges that overlap the cluster's own; those that are open to all are told of already."""
    for cluster, egress, i, network in _ranges(platform):
        port = next(filter(_of_nodes, egress.ports), None)
        on = {"pods": "", "services": "", "machines": port and f", on port {port}, {_of_nodes(port)}"}
        for name, where in on.items():
            own = cluster.networks[name]
            if where is not None and network.overlaps(own):
                message = (
                    f"egress `{egress.name}` leads to {network}, which overlaps {own} of the cluster's {name}{where}"
                )
                notes = [Note(f"the cluster's {name}", cluster.at / "networks" / name)]
                yield EGRESS_REACHES_NODES.at(egress.at / "to" / i, message, notes=notes)


def _of_nodes(port: int) -> str:
    """Return what answers on a port of every node; nothing for the API server's and others."""
    return _OF_NODES.get(port, "a node port" if port in _NODE_PORTS else "")


def egress_reaches_platform(platform: Platform) -> Iterator[Diagnostic]:
    """Find namespaces of the platform among the ways out."""
    for site in platform.sites:
        runs = _platform(site.cluster)
        for egress in site.cluster.egress:
            for i, namespace in enumerate(egress.namespaces):
                if namespace in runs:
                    message = f"egress `{egress.name}` lets every team reach `{namespace}`, {runs[namespace]}"
                    yield EGRESS_REACHES_PLATFORM.at(egress.at / "namespaces" / i, message)


def _platform(cluster: Cluster) -> dict[str, str]:
    """Return the platform's namespaces with what runs there, but what workspaces are served from."""
    release = cluster.release
    accounts = (user.split(":") for user in release.controllers)
    return {
        **{account[2]: "where controllers run" for account in accounts if account[2] not in release.workspace_ingress},
        release.sriov_namespace: "where the SR-IOV operator runs",
        cluster.argocd_namespace: "where Argo CD runs",
        cluster.system_namespace: "which holds the limits of all teams",
    }


def link_local_egress(platform: Platform) -> Iterator[Diagnostic]:
    """Find ranges with link-local addresses; those that are open to all are told of already."""
    for _, egress, i, network in _ranges(platform):
        if network.overlaps(LINK_LOCAL):
            message = f"egress `{egress.name}` leads to {network}, which has link-local addresses"
            yield LINK_LOCAL_EGRESS.at(egress.at / "to" / i, message)


def _ranges(platform: Platform) -> Iterator[tuple[Cluster, Egress, int, IPv4Network]]:
    return ((site.cluster, *each) for site in platform.sites for each in ranges(site.cluster))


CHECKS = (
    Check(OPEN_EGRESS, open_egress),
    Check(EGRESS_REACHES_A_TENANT, egress_reaches_a_tenant),
    Check(EGRESS_REACHES_NODES, egress_reaches_nodes),
    Check(EGRESS_REACHES_PLATFORM, egress_reaches_platform),
    Check(LINK_LOCAL_EGRESS, link_local_egress),
)
