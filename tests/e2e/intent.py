"""Who may reach whom, as the documentation says it; read from profiles and release, never from
NetworkPolicies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from itertools import permutations
from pathlib import Path
from typing import Any

import yaml

from tests.conftest import REPOSITORY
from tests.e2e.packets import Endpoint, Probe

JOB = "jobset.sigs.k8s.io/jobset-name"
OUTSIDER, DNS, INTERNET = "outsider", "dns", "internet"
_TRAINER = {"app.kubernetes.io/name": "trainer", "app.kubernetes.io/component": "controller"}
_TRAINER_PORT = 28080
"""Where OpenShift AI's Trainer asks a job for its progress
(opendatahub-io/trainer:pkg/rhai/networkpolicy.go)."""
_ANY_PORTS = (22, 53, 443, 5353, 6443, 8888, 40000)
"""sshd, names of both releases, what profiles name, a workbench, and one that MPI chose."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a cluster of this repository promises about the pod network.

    Args:
        release: its `release.yaml`.
        egress: of the cluster's profile.
        namespaces: of the teams.
    """

    release: Mapping[str, Any]
    egress: Mapping[str, Any]
    namespaces: tuple[str, ...]

    def endpoints(self) -> Iterator[Endpoint]:
        """Yield two jobs and two workbenches of each team's namespace, the platform's pods, and
        hosts."""
        for namespace in self.namespaces:
            for name, job in (
                ("rank-a0", "a"),
                ("rank-a1", "a"),
                ("rank-b0", "b"),
                ("bench-0", ""),
                ("bench-1", ""),
            ):
                yield Endpoint(f"{namespace}-{name}", namespace, {JOB: job} if job else {})
        yield Endpoint(OUTSIDER, "somebody", {JOB: "a"})
        yield Endpoint(DNS, self.release["dns"]["namespace"])
        platform = {account.split(":")[2] for account in self.release["controllers"]}
        platform |= {*self.release["metricsNamespaces"], *self.release["workspaceIngress"]}
        for namespace in sorted(platform - {self.release["dns"]["namespace"]}):
            yield Endpoint(namespace, namespace)
        if self.release["isolatesJobs"]:
            yield Endpoint("trainer", _trainer_namespace(self.release), _TRAINER)
        yield Endpoint(INTERNET, address="192.0.2.200")
        for name, way in self.egress.items():
            for number, cidr in enumerate(way["to"]):
                network = ip_network(cidr)
                yield Endpoint(f"{name}-{number}", address=str(network[-1]))
                yield Endpoint(f"{name}-{number}-next", address=str(network[-1] + 1))

    def probes(self, among: tuple[Endpoint, ...]) -> Iterator[Probe]:
        """Yield a probe for each port and protocol of two endpoints of which a team has at least
        one."""
        ports = {
            *_ANY_PORTS,
            _TRAINER_PORT,
            *(port for way in self.egress.values() for port in way["ports"]),
        }
        for one, two in permutations(among, 2):
            if {one.namespace, two.namespace} & {*self.namespaces}:
                yield from (
                    (one.name, two.name, protocol, port)
                    for protocol in ("TCP", "UDP")
                    for port in ports
                )

    def allows(self, source: Endpoint, target: Endpoint, protocol: str, port: int) -> bool:
        """Tell whether a connection is meant to pass: nothing but the teams' namespaces is
        restricted."""
        leaves = source.namespace not in self.namespaces or self._leaves(
            source, target, protocol, port
        )
        enters = target.namespace not in self.namespaces or self._enters(
            source, target, protocol, port
        )
        return leaves and enters

    def _leaves(self, source: Endpoint, target: Endpoint, protocol: str, port: int) -> bool:
        """Tell whether a team's pod may send there."""
        dns = self.release["dns"]
        if target.namespace == dns["namespace"] and port in dns["ports"]:
            return True
        if any(_is_way(way, source, target, protocol, port) for way in self.egress.values()):
            return True
        if JOB in source.labels:
            return target.namespace == source.namespace and JOB in target.labels
        return self._are_workspaces(source, target)

    def _enters(self, source: Endpoint, target: Endpoint, protocol: str, port: int) -> bool:
        """Tell whether a team's pod may be sent to from there."""
        if source.namespace in self.release["metricsNamespaces"]:
            return True
        if JOB not in target.labels:
            return self._are_workspaces(target, source)
        if self.release["isolatesJobs"] and source.labels == _TRAINER:
            return (protocol, port) == ("TCP", _TRAINER_PORT)
        same = (
            source.labels.get(JOB) == target.labels[JOB]
            if self.release["isolatesJobs"]
            else JOB in source.labels
        )
        return source.namespace == target.namespace and same

    def _are_workspaces(self, own: Endpoint, other: Endpoint) -> bool:
        """Tell whether a workbench and another pod belong to one project, or the other one serves
        all projects."""
        if "workspaces" not in self.release["features"]:
            return False
        return other.namespace in self.release["workspaceIngress"] or (
            own.namespace == other.namespace and JOB not in other.labels
        )


def intent(cluster: str) -> Intent:
    """Return what a cluster of this repository promises."""
    profile = _read(REPOSITORY / f"profiles/clusters/{cluster}.yaml")
    release = _read(REPOSITORY / f"generator/trainyard/releases/{profile['release']}/release.yaml")
    found = (REPOSITORY / f"overlays/{cluster}/teams").glob("*/namespace-*.yaml")
    names = sorted(_read(path)["metadata"]["name"] for path in found)
    assert names
    return Intent(release, profile["egress"], tuple(names))


def policies(cluster: str) -> list[dict[str, Any]]:
    """Return the NetworkPolicies of a cluster's tree."""
    paths = sorted((REPOSITORY / f"overlays/{cluster}").rglob("networkpolicy-*.yaml"))
    return [body for body in map(_read, paths) if body["kind"] == "NetworkPolicy"]


def job_policies(cluster: Intent) -> Iterator[dict[str, Any]]:
    """Yield what OpenShift AI's Trainer writes for each job; nothing where Trainer is upstream's.

    Source: opendatahub-io/trainer:pkg/rhai/networkpolicy.go@070e02f.
    """
    if not cluster.release["isolatesJobs"]:
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


def _is_way(
    way: Mapping[str, Any], source: Endpoint, target: Endpoint, protocol: str, port: int
) -> bool:
    """Tell whether a declared egress leads there: TCP, from whom it says, to its ranges and
    namespaces."""
    whose = {"all": True, "jobs": JOB in source.labels, "workspaces": JOB not in source.labels}
    ranges = [ip_network(cidr) for cidr in way.get("to", ())]
    there = (
        target.namespace in way.get("namespaces", ())
        if target.namespace
        else _is_in(target, ranges)
    )
    return whose[way.get("from", "all")] and there and protocol == "TCP" and port in way["ports"]


def _is_in(host: Endpoint, ranges: list[Any]) -> bool:
    return any(ip_address(host.address) in one for one in ranges)


def _trainer_namespace(release: Mapping[str, Any]) -> str:
    (account,) = (each for each in release["controllers"] if "trainer" in each)
    return str(account.split(":")[2])


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))
