"""The rails of two pods in one VLAN: which port answers for which address, in network namespaces.

The addresses and the sysctls are those of the tree; the function that compares is the one of the
fabric test.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

import pytest

from tests.e2e.network import Network
from tests.e2e.virtual_functions import site_of
from trainyard.render.folder import script
from trainyard.render.site import render_site

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("packets")]
NAMESPACE, RAILS = "team-nlp", 8
PODS = ("job-node-0-0", "job-node-0-1")


@dataclass(frozen=True, slots=True)
class Rails:
    """Two pods, each with an interface for each rail, on one bridge."""

    network: Network

    def run(self, *command: str) -> str:
        """Run a command beside the pods."""
        done = subprocess.run(
            self.network.inside(*command), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
        return done.stdout

    def attach(self, pod: str, rail: int, address: str, sysctls: dict[str, str]) -> None:
        """Add a rail's interface to a pod; the sysctls are set as the plugin `tuning` does."""
        inside, outside = f"net{rail + 1}", f"{pod[-1]}rail{rail}"
        peer = ("type", "veth", "peer", "name", outside)
        self.run("ip", "link", "add", inside, "netns", pod, *peer)
        self.run("ip", "link", "set", outside, "master", "pods", "up")
        self.run("ip", "-n", pod, "address", "add", address, "dev", inside)
        self.run("ip", "-n", pod, "link", "set", inside, "up")
        for name, value in sysctls.items():
            file = "/proc/sys/" + name.replace(".", "/").replace("IFNAME", inside, 1)
            self.run("ip", "netns", "exec", pod, "sh", "-c", f"echo {value} > {file}")

    def right(self, pod: str) -> int:
        """Return how many rails of the other pod answer a pod with their own port."""
        (other,) = set(PODS) - {pod}
        shown: list[dict[str, Any]] = json.loads(
            self.run("ip", "-n", other, "-json", "address", "show")
        )
        ports = [
            f"{other} {int(each['ifname'][3:]) - 1} {each['addr_info'][0]['local']} "
            f"{each['address']}"
            for each in shown
            if each["ifname"].startswith("net")
        ]
        assert len(ports) == RAILS
        body = _function("neighbours") + _function("first_of_host")
        command = f"HOSTNAME={pod}; {body}\nneighbours {' '.join(map(repr, ports))}"
        printed = self.run("ip", "netns", "exec", pod, "bash", "-c", command).splitlines()
        return sum(line.split()[-1] == "1" for line in printed)


def _function(name: str) -> str:
    """Return a function of the fabric test."""
    _, _, rest = script("fabric").partition(f"\n{name}() {{")
    return f"{name}() {{{rest.partition(chr(10) + '}')[0]}\n}}\n"


@pytest.fixture
def rails(request: pytest.FixtureRequest) -> Iterator[Rails]:
    """The pods, with the filter of reverse paths of a distribution."""
    network = Network()
    rails = Rails(network)
    for pod in PODS:
        network.add(pod)
        for name in ("all", "default"):
            file = f"/proc/sys/net/ipv4/conf/{name}/rp_filter"
            rails.run("ip", "netns", "exec", pod, "sh", "-c", f"echo {request.param} > {file}")
    yield rails
    network.close()


def _attach(rails: Rails, tuned: bool) -> None:
    """Attach the rails with the addresses and the sysctls of the tree."""
    bodies = [each.body for each in render_site(site_of("profiles", "lab"))]
    for rail in range(RAILS):
        (network,) = (
            each["spec"]
            for each in bodies
            if each["kind"] == "SriovNetwork"
            and each["spec"]["networkNamespace"] == NAMESPACE
            and each["metadata"]["name"].endswith(f"-rail-{rail}")
        )
        pool = json.loads(network["ipam"])["poolName"]
        (addresses,) = (
            each["spec"]
            for each in bodies
            if each["kind"] == "IPPool" and each["metadata"]["name"] == pool
        )
        subnet, block = IPv4Network(addresses["subnet"]), addresses["perNodeBlockSize"]
        plugins = {each["type"]: each for each in json.loads(f"[{network['metaPlugins']}]")}
        for number, pod in enumerate(PODS):
            address = f"{subnet[number * block + 1]}/{subnet.prefixlen}"
            rails.attach(pod, rail, address, plugins["tuning"]["sysctl"] if tuned else {})


@pytest.mark.parametrize("rails", ["0", "2"], indirect=True)
def test_each_port_answers_for_its_own_address(rails: Rails) -> None:
    _attach(rails, tuned=True)

    assert [rails.right(pod) for pod in PODS] == [RAILS, RAILS]


@pytest.mark.parametrize("rails", ["0", "2"], indirect=True)
def test_ports_answer_for_each_other_without_the_sysctls(rails: Rails) -> None:
    """As Linux does, so that the first port that answers gets the packets."""
    _attach(rails, tuned=False)

    assert sum(rails.right(pod) for pod in PODS) < 2 * RAILS
