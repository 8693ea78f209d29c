"""Connections that the documentation allows, from profiles and release only.

NetworkPolicies are not read, since the tests compare them with this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from itertools import permutations, product
from pathlib import Path
from typing import Any

import yaml

from tests.changes.told import edited
from tests.conftest import REPOSITORY
from tests.e2e.packets import Endpoint, Probe
from trainyard.profiles.read import releases
from trainyard.render.site import render_site

JOB = "jobset.sigs.k8s.io/jobset-name"
OUTSIDER, DNS, INTERNET = "outsider", "dns", "internet"
CACHE, BESIDE_DNS, METADATA = "cache", "beside-dns", "metadata"
_TRAINER = {"app.kubernetes.io/name": "trainer", "app.kubernetes.io/component": "controller"}
_TRAINER_PORT = 28080
"""Port where OpenShift AI's Trainer asks a job for its progress
(opendatahub-io/trainer:pkg/rhai/networkpolicy.go)."""
_TEAM_PODS = {
    "rank-a0": {JOB: "a"},
    "rank-a1": {JOB: "a"},
    "rank-b0": {JOB: "b"},
    "bench-0": {},
    "bench-1": {},
}
"""Labels of the pods of each team's namespace, by the end of their names."""
_ANY_PORTS = (22, 53, 80, 443, 5353, 6443, 8888, 40000)
"""Ports of sshd, DNS of both releases, the metadata service, egress rules, a workbench, and one
that MPI chose."""


_PROMETHEUS = {
    "openshift": "openshift-user-workload-monitoring",
    "prometheus-operator": "monitoring",
}
"""Namespace of the Prometheus of each stack."""


@dataclass(frozen=True, slots=True)
class Intent:
    """Promises of a cluster of this repository about the pod network.

    Args:
        release: its fields.
        dns: who resolves names: the release's values, and what the profile states.
        egress: of the cluster's profile.
        namespaces: of the teams.
        prometheus: namespace of the one that scrapes.
        metrics: port of the jobs' own metrics, by namespace of the teams that have them.
    """

    release: Mapping[str, Any]
    dns: Mapping[str, Any]
    egress: Mapping[str, Any]
    namespaces: tuple[str, ...]
    prometheus: str
    metrics: Mapping[str, int]

    @property
    def isolates_jobs(self) -> bool:
        """Return whether Trainer writes a NetworkPolicy for each job."""
        derived = (each for each in self.release["derivedNames"] if each["by"] == "Trainer")
        return any("NetworkPolicy" in each["names"] for each in derived)

    def endpoints(self) -> Iterator[Endpoint]:
        """Yield jobs and workbenches of each team's namespace, the platform's pods, and hosts."""
        for namespace in self.namespaces:
            for name, labels in _TEAM_PODS.items():
                yield Endpoint(f"{namespace}-{name}", namespace, labels)
        yield Endpoint(OUTSIDER, "somebody", {JOB: "a"})
        yield Endpoint(DNS, self.dns["namespace"], self.dns.get("labels", {}))
        yield Endpoint(BESIDE_DNS, self.dns["namespace"], {"k8s-app": "proxy"})
        for number, address in enumerate(self.dns.get("addresses", ())):
            yield Endpoint(f"{CACHE}-{number}", address=address)
        yield Endpoint(METADATA, address="169.254.169.254")
        for namespace in self._platform_namespaces():
            yield Endpoint(namespace, namespace)
        if self.isolates_jobs:
            yield Endpoint("trainer", _trainer_namespace(self.release), _TRAINER)
        yield Endpoint(INTERNET, address="192.0.2.200")
        yield from self._hosts()

    def _platform_namespaces(self) -> list[str]:
        platform = {account.split(":")[2] for account in self.release["controllers"]}
        platform |= {self.prometheus, *self.release["workspaceIngress"]}
        return sorted(platform - {self.dns["namespace"]})

    def _hosts(self) -> Iterator[Endpoint]:
        """Yield the last address of each range of the egress rules, and the one after it."""
        for name, rule in self.egress.items():
            for number, cidr in enumerate(rule["to"]):
                network = ip_network(cidr)
                yield Endpoint(f"{name}-{number}", address=str(network[-1]))
                yield Endpoint(f"{name}-{number}-next", address=str(network[-1] + 1))

    def probes(self, among: tuple[Endpoint, ...]) -> Iterator[Probe]:
        """Yield a probe for each port and protocol of two endpoints, one of them a team's."""
        ports = {*_ANY_PORTS, _TRAINER_PORT, *self.metrics.values()}
        for rule in self.egress.values():
            ports.update(rule["ports"])
        for one, two in permutations(among, 2):
            if {one.namespace, two.namespace} & {*self.namespaces}:
                for protocol, port in product(("TCP", "UDP"), ports):
                    yield one.name, two.name, protocol, port

    def allows(self, source: Endpoint, target: Endpoint, protocol: str, port: int) -> bool:
        """Return whether a connection is allowed; only the teams' namespaces are restricted."""
        leaves = source.namespace not in self.namespaces or self._leaves(
            source, target, protocol, port
        )
        enters = target.namespace not in self.namespaces or self._enters(
            source, target, protocol, port
        )
        return leaves and enters

    def _leaves(self, source: Endpoint, target: Endpoint, protocol: str, port: int) -> bool:
        """Return whether a team's pod may send there."""
        if self._resolves(target, port):
            return True
        if any(_allows(rule, source, target, protocol, port) for rule in self.egress.values()):
            return True
        if JOB in source.labels:
            return target.namespace == source.namespace and JOB in target.labels
        return self._are_workspaces(source, target)

    def _resolves(self, target: Endpoint, port: int) -> bool:
        """Return whether teams may ask there for names, over either protocol."""
        if target.address:
            return port == 53 and target.address in self.dns.get("addresses", ())
        wanted = self.dns.get("labels", {}).items()
        is_pod = target.namespace == self.dns["namespace"] and wanted <= target.labels.items()
        return is_pod and port in self.dns["ports"]

    def _enters(self, source: Endpoint, target: Endpoint, protocol: str, port: int) -> bool:
        """Return whether a team's pod may receive from there."""
        if source.namespace == self.prometheus:
            scraped = JOB in target.labels and protocol == "TCP"
            return scraped and port == self.metrics.get(target.namespace)
        if JOB not in target.labels:
            return self._are_workspaces(target, source)
        if self.isolates_jobs and source.labels == _TRAINER:
            return (protocol, port) == ("TCP", _TRAINER_PORT)
        same = (
            source.labels.get(JOB) == target.labels[JOB]
            if self.isolates_jobs
            else JOB in source.labels
        )
        return source.namespace == target.namespace and same

    def _are_workspaces(self, own: Endpoint, other: Endpoint) -> bool:
        """Return whether a workbench and another pod share a project, or the other serves all."""
        if "workspaces" not in self.release["features"]:
            return False
        return other.namespace in self.release["workspaceIngress"] or (
            own.namespace == other.namespace and JOB not in other.labels
        )


def intent(cluster: str, dns: Mapping[str, Any] | None = None) -> Intent:
    """Return the promises of a cluster of this repository, with other name servers if given."""
    profile = _read(REPOSITORY / f"profiles/clusters/{cluster}.yaml")
    release = releases()[profile["release"]].value
    metrics, names = {}, []
    for path in sorted((REPOSITORY / f"overlays/{cluster}/teams").glob("*/namespace-*.yaml")):
        names.append(name := _read(path)["metadata"]["name"])
        team = _read(REPOSITORY / f"profiles/teams/{path.parent.name}.yaml")
        if "metrics" in team:
            metrics[name] = team["metrics"]
    assert names
    assert metrics
    prometheus = _PROMETHEUS[profile["monitoring"]["stack"]]
    asked = {**release["dns"], **(dns or profile.get("dns", {}))}
    return Intent(release, asked, profile["egress"], tuple(sorted(names)), prometheus, metrics)


def policies(cluster: str) -> list[dict[str, Any]]:
    """Return the NetworkPolicies of a cluster's tree."""
    paths = sorted((REPOSITORY / f"overlays/{cluster}").rglob("networkpolicy-*.yaml"))
    return [body for body in map(_read, paths) if body["kind"] == "NetworkPolicy"]


def changed_policies(cluster: str, change: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the NetworkPolicies of a cluster's tree after a change of its profile."""
    site = edited({f"clusters/{cluster}.yaml": change}).site(cluster)
    assert site
    bodies = (each.body for each in render_site(site))
    return [body for body in bodies if body["kind"] == "NetworkPolicy"]


def job_policies(cluster: Intent) -> Iterator[dict[str, Any]]:
    """Yield the policy that OpenShift AI's Trainer writes for each job; none for upstream's.

    Source: opendatahub-io/trainer:pkg/rhai/networkpolicy.go@070e02f.
    """
    if not cluster.isolates_jobs:
        return
    where = {"matchLabels": {"kubernetes.io/metadata.name": _trainer_namespace(cluster.release)}}
    controller = {"namespaceSelector": where, "podSelector": {"matchLabels": _TRAINER}}
    progress = {"from": [controller], "ports": [{"protocol": "TCP", "port": _TRAINER_PORT}]}
    for namespace in cluster.namespaces:
        for job in ("a", "b"):
            pods = {"matchLabels": {JOB: job}}
            rules = [progress, {"from": [{"podSelector": pods}]}]
            yield {
                "apiVersion": "networking.k8s.io/v1",
                "kind": "NetworkPolicy",
                "metadata": {"name": job, "namespace": namespace},
                "spec": {"podSelector": pods, "policyTypes": ["Ingress"], "ingress": rules},
            }


def _allows(
    rule: Mapping[str, Any], source: Endpoint, target: Endpoint, protocol: str, port: int
) -> bool:
    """Return whether an egress rule allows a connection: TCP, by source, target and port."""
    whose = {"all": True, "jobs": JOB in source.labels, "workspaces": JOB not in source.labels}
    if not whose[rule.get("from", "all")] or protocol != "TCP" or port not in rule["ports"]:
        return False
    if target.namespace:
        return target.namespace in rule.get("namespaces", ())
    return any(ip_address(target.address) in ip_network(cidr) for cidr in rule.get("to", ()))


def _trainer_namespace(release: Mapping[str, Any]) -> str:
    (account,) = (each for each in release["controllers"] if "trainer" in each)
    return str(account.split(":")[2])


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))
