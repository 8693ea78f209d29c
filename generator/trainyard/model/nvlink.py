"""NVLink between nodes: what pods claim for it, and how Kueue counts that.

NVIDIA's DRA driver makes one domain of the nodes with pods of a ComputeDomain. It writes the
ResourceClaimTemplate that pods name, and only pods of one namespace can: so teams are apart
(kubernetes-sigs/dra-driver-nvidia-gpu:api/nvidia.com/resource/v1beta1/computedomain.go@9593204).
A domain outlives its jobs: it has no number of nodes, and takes those on which pods claim it.
"""

from __future__ import annotations

from collections.abc import Collection

from trainyard.model.accelerator import Product

CLIQUE = "nvidia.com/gpu.clique"
"""Label of nodes that NVLink connects (NVIDIA/k8s-device-plugin:internal/lm/imex.go@1b826ac)."""

CHANNEL = "compute-domain.nvidia.com/channel"
"""What Kueue counts in place of a claim, by its configuration: one for each pod of ranks."""

DEVICE_CLASS = "compute-domain-default-channel.nvidia.com"
"""Of the claims (kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm@9593204)."""

DOMAIN = "nvlink"
"""Name of a namespace's ComputeDomain, of the claims' template, and of the claim in a pod."""

FEATURE = "device-claims"
"""Of releases whose Kueue counts claims with parameters of a driver: 0.18.2 and later
(kubernetes-sigs/kueue#12471)."""

DRIVER = "ComputeDomains"
"""Kind under which a cluster declares who runs the driver."""


def is_possible(product: Product | None, features: Collection[str]) -> bool:
    """Return whether NVLink connects such nodes for jobs of a release with some features."""
    return product is not None and product.nvlink_nodes > 1 and FEATURE in features
