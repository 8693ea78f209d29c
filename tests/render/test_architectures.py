"""Nodes with Arm processors, and nodes with more NUMA nodes than kubelet aligns."""

from __future__ import annotations

from typing import Any

import pytest

from tests.resolve.changes import CLUSTER, together
from tests.rules.cases import platform_of
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard.render.unit import readme

GRACE: dict[str, Any] = {
    "hardware/gb200.yaml": {
        "extends": "nvidia-gb200-tray",
        "memory": "960Gi",
        "ephemeralStorage": "1788Gi",
    },
    CLUSTER: {"pools": {"gb200": {"nodes": 18, "reserve": 18, "fabric": "ib"}}},
}
CLEANUP = {"keep": "3d", "image": f"registry.example.com/platform/kubectl@sha256:{'8' * 64}"}


def site(*changes: dict[str, Any]) -> Site:
    (only,) = platform_of(together(*changes)).sites
    return only


def kubelet(of: Site, pool: str) -> dict[str, Any]:
    """Return kubelet's settings on the nodes of a pool."""
    for each in render_site(of):
        body = each.body
        if body["kind"] == "KubeletConfig" and body["metadata"]["name"] == pool:
            return dict(body["spec"]["kubeletConfig"])
    raise AssertionError(pool)


def clean_up(of: Site) -> dict[str, Any]:
    """Return the pod of what deletes finished jobs."""
    (job,) = (each for each in render_site(of) if _is_cron_job(each))
    return dict(job.body["spec"]["jobTemplate"]["spec"]["template"]["spec"])


def _is_cron_job(each: Manifest) -> bool:
    return bool(each.body["kind"] == "CronJob")


def test_kubelet_starts_on_34_numa_nodes() -> None:
    """Its topology manager takes eight, and is on wherever it can be."""
    assert kubelet(site(GRACE), "gb200")["topologyManagerPolicy"] == "none"
    assert "topologyManagerScope" not in kubelet(site(GRACE), "gb200")
    assert kubelet(site(GRACE), "dgx-h100")["topologyManagerPolicy"] == "best-effort"


@pytest.mark.parametrize(("nodes", "aligned"), [(1, True), (8, True), (10, False), (64, False)])
def test_eight_numa_nodes_are_aligned_at_most(nodes: int, *, aligned: bool) -> None:
    changes = {"hardware/gb200.yaml": {"numaNodes": nodes}}
    policy = kubelet(site(GRACE, changes), "gb200")["topologyManagerPolicy"]

    assert (policy == "best-effort") is aligned


def test_numa_nodes_of_gpu_memory_have_no_cores() -> None:
    """Ranks share the cores of the two CPUs."""
    (grace,) = (pool.hardware for pool in site(GRACE).cluster.pools if pool.name == "gb200")

    assert (grace.architecture, grace.numa_nodes, grace.core_nodes) == ("arm64", 34, 2)
    assert grace.cores_by_numa == (64, 64)


def test_readme_states_what_is_other_on_such_nodes() -> None:
    page = readme(site(GRACE))

    assert page.count("Their processors are arm64:") == 1
    assert page.count("With 34 NUMA nodes, kubelet's topology manager stays off:") == 1


@pytest.mark.parametrize(
    ("changes", "selector"),
    [
        ({}, None),
        (GRACE, {"kubernetes.io/arch": "amd64"}),
        ({CLUSTER: {"finishedJobs": {"arch": "arm64"}}}, {"kubernetes.io/arch": "arm64"}),
    ],
)
def test_clean_up_runs_where_its_image_does(
    changes: dict[str, Any], selector: dict[str, str] | None
) -> None:
    """Where all pools are amd64, nothing needs to be said."""
    pod = clean_up(site({CLUSTER: {"finishedJobs": CLEANUP}}, changes))

    assert pod.get("nodeSelector") == selector
