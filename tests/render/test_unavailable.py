"""Clusters of which a provider operates a part: what the tree leaves out, and what pages say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import platform_of
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard.render.unit import node_limits, readme
from trainyard.render.views.cluster import ClusterView

CLUSTER = "clusters/prod-east.yaml"
PLAIN: dict[str, Any] = {"release": "kubernetes-1.36", "argocd": None}
FLAGS, FILES, MACHINES = "api-server-flags", "kubelet-files", "machine-configs"


def site(*unavailable: str, **fields: Any) -> Site:
    stated = {"unavailable": [*unavailable]} if unavailable else {}
    (found,) = platform_of({CLUSTER: {**fields, **stated}}).sites
    return found


def paths(of: Site) -> set[str]:
    return {each.path for each in render_site(of)} | node_limits(of).keys()


@pytest.mark.parametrize(
    ("release", "unavailable", "gone"),
    [
        (PLAIN, FLAGS, {"operators/audit-policy.yaml"}),
        (
            PLAIN,
            FILES,
            {
                "node-files/dgx-h100-kubelet-configuration.yaml",
                "node-files/dgx-h100-memlock.conf",
            },
        ),
        (
            {},
            MACHINES,
            {
                "nodes/kubeletconfig-dgx-h100.yaml",
                "nodes/machineconfig-99-dgx-h100-memlock.yaml",
                "nodes/machineconfigpool-dgx-h100.yaml",
            },
        ),
        (PLAIN, MACHINES, set()),
        ({}, FILES, set()),
        ({}, FLAGS, set()),
    ],
)
def test_tree_leaves_out_what_nobody_can_set_up(
    release: dict[str, Any], unavailable: str, gone: set[str]
) -> None:
    """And nothing else: whatever a release does not ask for is not missed."""
    assert paths(site(**release)) - paths(site(unavailable, **release)) == gone


def test_readme_says_what_follows() -> None:
    """The steps of an owner that does not exist are not there."""
    page = readme(site(FLAGS, FILES, **PLAIN))

    assert "--audit-policy-file" not in page
    assert "Nobody here tells the API server what to record" in page
    assert "/etc/kubernetes/kubelet.conf.d" not in page
    assert "Nobody here sets up kubelet and containerd" in page
    assert "NCCL and UCX use TCP" in page
    usual = readme(site(**PLAIN))
    assert "Nobody here" not in usual
    assert "--audit-policy-file" in usual


def test_hosted_control_plane_has_no_pools_of_machines() -> None:
    """Nor alerts on them, nor a reboot by a label; ports are still set up by objects."""
    hosted = site(FLAGS, MACHINES)
    page = readme(hosted)

    assert not ClusterView(hosted.cluster).has_machine_pools
    assert "MachineConfigPool" not in page
    assert "apiservers.config.openshift.io" not in page
    assert "oc describe node NODE" in page
    assert "machine-config" not in {source.name for source in hosted.cluster.sources}
    assert hosted.cluster.has_node_unit
    assert any(path.startswith("nodes/sriovnetworknodepolicy") for path in paths(hosted))
