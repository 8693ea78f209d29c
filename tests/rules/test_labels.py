"""Labels and taints of nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken

HARDWARE = "hardware/dgx-h100.yaml"
PRODUCT = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
SERVER = {
    "cpu": {"sockets": 2, "cores": 112, "threads": 224},
    "numaNodes": 2,
    "memory": "2Ti",
    "ephemeralStorage": "1788Gi",
    "nics": [],
}
"""Facts of a server, so that one with another product keeps none."""
PLAIN = {"extends": "cpu-node", "cpu": {"sockets": 2, "cores": 64, "threads": 128}, "memory": "1Ti"}
CPU = {
    "hardware/cpu.yaml": {
        **PLAIN,
        "ephemeralStorage": "1Ti",
        "labels": {"other.example.com/kind": "none"},
        "taint": "ml.example.com/cpu",
    },
    "clusters/prod-east.yaml": {"pools": {"cpu": {"nodes": 1, "reserve": 1}}},
}


@pytest.mark.parametrize(
    ("product", "labels", "sliced"),
    [
        ("NVIDIA-H100-80GB-HBM3", PRODUCT, False),
        ("NVIDIA-H100-80GB-HBM3-MIG-3g.40gb", PRODUCT, True),
        ("NVIDIA-H100-80GB-HBM3-SHARED", PRODUCT, True),
        ("NVIDIA-SHARED-MIGHT", PRODUCT, False),
        ("NVIDIA-H100-80GB-HBM3", {**PRODUCT, "nvidia.com/gpu.sharing-strategy": "mps"}, True),
        ("NVIDIA-H100-80GB-HBM3", {**PRODUCT, "nvidia.com/gpu.sharing-strategy": "none"}, False),
        ("NVIDIA-H100-80GB-HBM3", {**PRODUCT, "nvidia.com/mig.capable": "true"}, False),
    ],
)
def test_sliced_gpus_follow_from_product_and_labels(
    product: str, labels: dict[str, str], sliced: bool
) -> None:
    """A card that could be divided and is not counts as whole."""
    gpu = {"product": product, "minimumCuda": "11.8"}
    changes: dict[str, Any] = {HARDWARE: {**SERVER, "gpu": gpu, "labels": labels}}

    assert ("node/sliced-gpu" in broken(changes)) is sliced


@pytest.mark.parametrize(
    "key",
    [
        "pod-security.kubernetes.io/enforce",
        "kubernetes.io/metadata.name",
        "app.kubernetes.io/name",
        "batch.kubernetes.io/job-name",
        "mynode.kubernetes.io/x",
        "topology.kubernetes.io.kubernetes.io/x",
        "openshift.io/cluster-monitoring",
        "security.openshift.io/scc.podSecurityLabelSync",
        "kueue.x-k8s.io/queue-name",
        "jobset.sigs.k8s.io/jobset-name",
        "trainer.kubeflow.org/trainjob-ancestor-step",
        "argocd.argoproj.io/instance",
        "opendatahub.io/dashboard",
    ],
)
def test_label_of_other_objects_selects_no_node(key: str) -> None:
    """Labels of namespaces, jobs, pods and applications are on no node."""
    assert "node/foreign-label" in broken({HARDWARE: {"labels": {**PRODUCT, key: "x"}}})


@pytest.mark.parametrize(
    "key",
    [
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "beta.kubernetes.io/instance-type",
        "failure-domain.beta.kubernetes.io/zone",
        "node.kubernetes.io/instance-type",
        "node-role.kubernetes.io/gpu",
        "rack.node-restriction.kubernetes.io/row",
        "kubelet.kubernetes.io/x",
        "topology.kubernetes.io/zone",
        "feature.node.kubernetes.io/cpu-model.family",
        "nvidia.com/gpu.count",
        "network.nvidia.com/operator.mofed.wait",
        "cloud.google.com/gke-accelerator",
        "node.openshift.io/os_id",
        "node.cluster.x-k8s.io/pool",
        "kops.k8s.io/instancegroup",
        "ml.example.com/pool",
        "accelerator",
    ],
)
def test_node_label_may_select_nodes(key: str) -> None:
    """Kubernetes, cloud providers, discovery and administrators set these on nodes."""
    assert "node/foreign-label" not in broken({HARDWARE: {"labels": {**PRODUCT, key: "x"}}})


@pytest.mark.parametrize(
    ("taint", "system"),
    [
        ("nvidia.com/gpu", False),
        ("node-role.kubernetes.io/gpu", False),
        ("node-role.kubernetes.io/infrared", False),
        ("node-role.kubernetes.io/infra", True),
        ("node-role.kubernetes.io/control-plane", True),
        ("node-role.kubernetes.io/master", True),
        ("node.kubernetes.io/unschedulable", True),
        ("node.cloudprovider.kubernetes.io/uninitialized", True),
        ("mynode.kubernetes.io/x", False),
    ],
)
def test_taints_of_kubernetes_are_refused(taint: str, system: bool) -> None:
    """A node role of the site's own is allowed."""
    assert ("node/system-taint" in broken({HARDWARE: {"taint": taint}})) is system


@pytest.mark.parametrize(
    ("labels", "misses"),
    [
        (PRODUCT, False),
        ({"ml.example.com/type": "x"}, False),
        ({"corp.internal/pool": "h100"}, False),
        ({"pool": "h100"}, True),
        ({"not-nvidia.com/pool": "h100"}, False),
        ({"node.kubernetes.io/instance-type": "x"}, True),
        ({"kubernetes.io/arch": "amd64"}, True),
        ({"nvidia.com/gpu.present": "true", "kubernetes.io/os": "linux"}, True),
        ({"nvidia.com/gpu.present": "true", "corp.internal/pool": "h100"}, False),
    ],
)
def test_gpu_nodes_are_selected_by_product_or_a_label_that_people_set(
    labels: dict[str, str], misses: bool
) -> None:
    assert ("node/labels-miss-product" in broken({HARDWARE: {"labels": labels}})) is misses


def test_cpu_nodes_need_no_product_label() -> None:
    assert broken(CPU) == set()
