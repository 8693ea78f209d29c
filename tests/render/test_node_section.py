"""What a cluster's README asks of its nodes, and of those who prepare them."""

from __future__ import annotations

from functools import cache

import pytest

from tests.conftest import REPOSITORY
from tests.resolve.changes import CLUSTER, ROCE, together
from tests.rules.cases import platform_of
from trainyard.generation.generate import generate
from trainyard.model.platform import Site
from trainyard.render.unit import readme

CLUSTERS = pytest.mark.parametrize("name", ["lab", "prod-east"])


@cache
def site(name: str) -> Site:
    platform = generate(REPOSITORY / "profiles", "../profiles/components").checked.platform
    assert platform is not None
    return next(each for each in platform.sites if each.name == name)


def page(of: Site) -> str:
    return readme(of)


@CLUSTERS
def test_cpus_of_a_node_are_those_of_jobs_and_of_daemons(name: str) -> None:
    """kubelet's share is what a node withholds; what daemons request is not jobs'."""
    for pool in site(name).cluster.pools:
        kind = pool.hardware
        total, system, kubelet = (
            each.cpu // 1000 for each in (kind.total, kind.system, kind.kubelet)
        )
        leaves = f"kubelet leaves {total - kubelet} of the {total} CPUs"

        assert f"{leaves}, so daemons may request {system - kubelet}." in page(site(name))
        assert pool.allocatable["cpu"] // 1000 + system - kubelet == total - kubelet


@CLUSTERS
def test_names_of_rdma_devices_are_stated_with_the_command(name: str) -> None:
    """Alerts look for them, and another system than DGX OS may give others."""
    rails = [rail.nic for pool in site(name).cluster.pools for rail in pool.rails]

    assert len(rails) >= 8
    for nic in rails:
        assert f"`{nic.pci}` `{nic.device}`" in page(site(name))
        assert f"{nic.pci}/infiniband/*" in page(site(name))


@pytest.mark.parametrize(
    ("name", "fabric", "own"),
    [
        ("lab", "roce", {"INTERNAL_CPU_OFFLOAD_ENGINE", "ib_core.netns_mode=0"}),
        ("prod-east", "ib", set[str]()),
    ],
)
def test_firmware_has_an_owner_and_a_list(name: str, fabric: str, own: set[str]) -> None:
    """On plain Kubernetes the SR-IOV operator reboots a node until the kernel has the argument, and
    a BlueField card is a computer of its own."""
    _, start, rest = page(site(name)).partition(f"- `NodeFirmware/{fabric}` (hardware team)")
    listed = rest.partition("\n- ")[0]

    assert start
    assert all(word in listed for word in ("SR-IOV", "`iommu=pt`", "ACS", "ATS", *own))
    others = {"INTERNAL_CPU_OFFLOAD_ENGINE", "ib_core.netns_mode=0"} - own
    assert not any(word in listed for word in others)


@pytest.mark.parametrize(("release", "asked"), [("openshift-ai-3.5", 2), ("kubernetes-1.36", 0)])
def test_openshift_is_told_of_the_sysctls(release: str, asked: int) -> None:
    """Its list lacks them; other platforms have no list."""
    (cluster,) = platform_of(together(ROCE, {CLUSTER: {"release": release}})).sites

    lines = page(cluster).splitlines()
    sysctls = [line for line in lines if "^net.ipv4.conf.IFNAME.arp_" in line]
    assert len(sysctls) == asked
    assert not [line for line in page(site("prod-east")).splitlines() if "IFNAME" in line]
