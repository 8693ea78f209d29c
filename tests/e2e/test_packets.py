"""The NetworkPolicies of both trees, enforced by kube-router's rules, against real packets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.intent import (
    BESIDE_DNS,
    CACHE,
    DNS,
    INTERNET,
    METADATA,
    OUTSIDER,
    Intent,
    changed_policies,
    intent,
    job_policies,
    policies,
)
from tests.e2e.network import ForbiddenError, Network
from tests.e2e.packets import Node, Probe

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("packets")]
both = pytest.mark.parametrize("place", ["lab", "prod-east"], indirect=True)

CACHED = "lab with caches"
DNS_OF_CACHED = {"labels": {"k8s-app": "kube-dns"}, "addresses": ["169.254.25.10", "10.96.0.10"]}
"""NodeLocal DNSCache as kubespray sets it up, beside the address of the DNS Service."""

_ANYBODY: dict[str, Any] = {"namespaceSelector": {}}
_WHOLE_NAMESPACE: dict[str, Any] = {"podSelector": {}}


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster: its promises, its pods, and the policies of its tree and its controllers."""

    name: str
    meant: Intent
    node: Node

    @property
    def policies(self) -> list[dict[str, Any]]:
        if self.name == CACHED:
            return changed_policies("lab", {"dns": DNS_OF_CACHED})
        return [*policies(self.name), *job_policies(self.meant)]

    def differing(self, enforced: list[dict[str, Any]], namespaces: int = 99) -> set[Probe]:
        """Return the probes whose answer differs from the promise.

        Args:
            enforced: the policies in the kernel.
            namespaces: number of the teams' namespaces that are probed.
        """
        left_out = self.meant.namespaces[namespaces:]
        among = {each.name: each for each in self.node.endpoints if each.namespace not in left_out}
        probes = set(self.meant.probes(tuple(among.values())))
        expected = {
            probe
            for probe in probes
            if self.meant.allows(among[probe[0]], among[probe[1]], *probe[2:])
        }
        assert 0 < len(expected) < len(probes) / 2
        self.node.enforce(enforced)
        return self.node.answered(probes) ^ expected


@pytest.fixture(scope="module")
def made() -> Iterator[dict[str, Place]]:
    """Keep each cluster for the next test."""
    places: dict[str, Place] = {}
    yield places
    for each in places.values():
        each.node.close()


@pytest.fixture
def place(request: pytest.FixtureRequest, made: dict[str, Place]) -> Place:
    """A cluster with all its pods on one node."""
    if request.param not in made:
        cached = request.param == CACHED
        meant = intent("lab", DNS_OF_CACHED) if cached else intent(request.param)
        made[request.param] = Place(request.param, meant, Node(tuple(meant.endpoints())))
    return made[request.param]


def lines(probes: set[Probe]) -> str:
    return "\n".join(
        f"{source} -> {target} {protocol}/{port}"
        for source, target, protocol, port in sorted(probes)
    )


@both
def test_every_pod_reaches_every_pod_without_policies(place: Place) -> None:
    """So whatever is blocked in the other tests is blocked by a policy."""
    probes = set(place.meant.probes(tuple(place.node.endpoints)))
    place.node.enforce([])

    assert not lines(probes - place.node.answered(probes))


@pytest.mark.parametrize("place", ["lab", "prod-east", CACHED], indirect=True)
def test_packets_pass_as_documented(place: Place) -> None:
    """Each pod of each team reaches what the documentation allows on each port, and no more."""
    assert not lines(place.differing(place.policies))


@pytest.mark.parametrize("place", ["prod-east"], indirect=True)
def test_tree_on_openshift_ai_has_no_ingress_rule_for_jobs(place: Place) -> None:
    """Trainer's own policy is the ingress rule of a job's pods."""
    differing = place.differing(policies("prod-east"), namespaces=1)

    namespace = place.meant.namespaces[0]
    assert (f"{namespace}-rank-a0", f"{namespace}-rank-a1", "TCP", 22) in differing
    assert {target.rpartition("-")[0] for _, target, *_ in differing} == {f"{namespace}-rank"}


def open_ingress(spec: dict[str, Any]) -> None:
    spec["ingress"] = [{}]


def ingress_from(peer: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    def change(spec: dict[str, Any]) -> None:
        spec["ingress"][0]["from"] = [peer]

    return change


def any_job(spec: dict[str, Any]) -> None:
    """Allow every job pod of the namespace, as on plain Kubernetes."""
    spec["policyTypes"] = ["Ingress", "Egress"]
    spec["ingress"] = [{"from": spec["egress"][0]["to"]}]


def any_pod(spec: dict[str, Any]) -> None:
    spec["podSelector"] = {}
    spec["ingress"][0]["from"] = spec["egress"][0]["to"] = [_WHOLE_NAMESPACE]


def any_namespace(spec: dict[str, Any]) -> None:
    spec["ingress"][0]["from"] = spec["egress"][0]["to"] = [_ANYBODY]


def any_port(spec: dict[str, Any]) -> None:
    del spec["egress"][0]["ports"]


def to_any_port(spec: dict[str, Any]) -> None:
    del spec["ingress"][0]["ports"]


def any_address(spec: dict[str, Any]) -> None:
    spec["egress"][0]["to"] = [{"ipBlock": {"cidr": "0.0.0.0/0"}}]


def any_pod_of_namespace(spec: dict[str, Any]) -> None:
    del spec["egress"][0]["to"][0]["podSelector"]


def without_hosts(spec: dict[str, Any]) -> None:
    del spec["egress"][1]


def any_link_local_port(spec: dict[str, Any]) -> None:
    """Allow what an egress rule to the addresses of caches would."""
    spec["egress"][1] = {"to": [{"ipBlock": {"cidr": "169.254.0.0/16"}}]}


def for_all_pods(spec: dict[str, Any]) -> None:
    spec["podSelector"] = {}


def for_no_pod(spec: dict[str, Any]) -> None:
    spec["podSelector"] = {"matchLabels": {"no": "pod"}}


@dataclass(frozen=True, slots=True)
class Wrong:
    """A change of a policy, and a probe whose answer must change.

    Args:
        source, target: names of endpoints; `{0}` and `{1}` are the teams' first namespaces.
    """

    cluster: str
    policy: str
    change: Callable[[dict[str, Any]], None]
    source: str
    target: str
    port: int


_PROMETHEUS = "openshift-user-workload-monitoring"
WRONG = [
    Wrong("lab", "default-deny", open_ingress, OUTSIDER, "{0}-bench-0", 8888),
    Wrong("lab", "dns", any_port, "{0}-rank-a0", DNS, 40000),
    Wrong(CACHED, "dns", any_pod_of_namespace, "{0}-rank-a0", BESIDE_DNS, 53),
    Wrong(CACHED, "dns", without_hosts, "{0}-rank-a0", f"{CACHE}-0", 53),
    Wrong(CACHED, "dns", any_link_local_port, "{0}-rank-a0", METADATA, 80),
    Wrong("lab", "dns", for_no_pod, "{0}-rank-a0", DNS, 53),
    Wrong("lab", "jobs", for_no_pod, "{0}-rank-a0", "{0}-rank-a1", 22),
    Wrong("lab", "jobs", ingress_from(_ANYBODY), OUTSIDER, "{0}-rank-a0", 22),
    Wrong("lab", "jobs", any_pod, "{0}-bench-0", "{0}-rank-a0", 22),
    Wrong("lab", "jobs", any_namespace, "{0}-rank-a0", "{1}-rank-a0", 22),
    Wrong("lab", "egress-object-store", any_address, "{0}-rank-a0", INTERNET, 443),
    Wrong("lab", "egress-object-store", any_port, "{0}-rank-a0", "object-store-0", 22),
    Wrong("prod-east", "jobs", any_job, "{0}-rank-a0", "{0}-rank-b0", 22),
    Wrong("prod-east", "metrics", ingress_from(_ANYBODY), OUTSIDER, "{1}-rank-a0", 8080),
    Wrong("prod-east", "metrics", to_any_port, _PROMETHEUS, "{1}-rank-a0", 22),
    Wrong("prod-east", "metrics", for_all_pods, _PROMETHEUS, "{1}-bench-0", 8080),
    Wrong("prod-east", "workspaces", ingress_from(_ANYBODY), OUTSIDER, "{0}-bench-0", 8888),
    Wrong("prod-east", "workspaces", for_all_pods, "openshift-ingress", "{0}-rank-a0", 22),
    Wrong("prod-east", "egress-api-server", for_all_pods, "{0}-rank-a0", "api-server-0", 6443),
]


@pytest.mark.parametrize(
    ("place", "wrong"),
    [pytest.param(each.cluster, each, id=f"{each.cluster}-{each.policy}") for each in WRONG],
    indirect=["place"],
)
def test_wrong_policy_is_detected(place: Place, wrong: Wrong) -> None:
    """A policy that allows more, or less, changes the answer of a probe."""
    enforced = deepcopy(place.policies)
    changed = [
        each["spec"]
        for each in enforced
        if each["metadata"]["name"] == wrong.policy
        and each["metadata"]["namespace"] in place.meant.namespaces
    ]
    for spec in changed:
        wrong.change(spec)

    differing = place.differing(enforced, namespaces=2)

    # Only a team with metrics of its own has their policy.
    places = place.meant.metrics if wrong.policy == "metrics" else place.meant.namespaces
    assert len(changed) == len(places)
    source, target = (each.format(*place.meant.namespaces) for each in (wrong.source, wrong.target))
    assert (source, target, "TCP", wrong.port) in differing


@pytest.mark.parametrize("made", ["link", "address"])
def test_node_that_cannot_be_made_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    """A machine without `ip`, or that forbids a setting, keeps no namespaces."""
    networks: list[Network] = []

    def inside(network: Network, *command: str) -> list[str]:
        networks.append(network)
        return ["false"] if command[1] == made else ["true"]

    monkeypatch.setattr(Network, "inside", inside)
    with pytest.raises((AssertionError, ForbiddenError)):
        Node(())
    assert networks[0]._process.poll() is not None
