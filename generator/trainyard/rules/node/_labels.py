"""The label of GPU feature discovery, and what happens when nodes have another GPU."""

from __future__ import annotations

PRODUCT = "nvidia.com/gpu.product"
"""Set by GPU feature discovery; -MIG- or -SHARED marks parts of GPUs (NVIDIA/k8s-device-plugin)."""


OTHER_NODES = (
    "Jobs run slower or run out of GPU memory, because quota and runtimes are computed for another "
    "GPU. Where no node matches, they wait permanently: `no topology domains at level: <label>` "
    "(seen with Kueue 0.19.2)."
)
