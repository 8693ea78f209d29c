"""What a job may reach over the network, as the page of its team says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network

from trainyard.model.cluster import Cluster
from trainyard.model.network import Egress
from trainyard.render.markdown import code

_OF_JOBS, _OF_WORKSPACES = frozenset({"all", "jobs"}), frozenset({"all", "workspaces"})
_WIDE = 8
"""Most bits of a prefix that has a large part of the internet's addresses."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The egress rules of a cluster, by the pods that they are for."""

    cluster: Cluster

    @property
    def jobs(self) -> list[tuple[str, str, str]]:
        """Name, destinations and TCP ports of each rule for jobs, as Markdown."""
        return list(self._rows(_OF_JOBS))

    @property
    def workspaces(self) -> list[tuple[str, str, str]]:
        """Those of workbenches alone."""
        return list(self._rows(_OF_WORKSPACES - _OF_JOBS))

    @property
    def internet(self) -> bool:
        """Return whether a rule permits jobs any address, or a large part of all."""
        networks = [
            ip_network(cidr)
            for rule in self.cluster.egress
            if rule.source in _OF_JOBS
            for cidr in rule.cidrs
        ]
        return any(each.prefixlen < _WIDE for each in networks)

    def _rows(self, sources: frozenset[str]) -> Iterator[tuple[str, str, str]]:
        for rule in self.cluster.egress:
            if rule.source in sources:
                yield code(rule.name), ", ".join(_destinations(rule)), _ports(rule)


def _destinations(rule: Egress) -> Iterator[str]:
    for cidr in rule.cidrs:
        yield code(cidr)
    for namespace in rule.namespaces:
        yield f"namespace {code(namespace)}"


def _ports(rule: Egress) -> str:
    return ", ".join(map(str, rule.ports)) or "all"
