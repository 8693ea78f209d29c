"""Labels and taints of nodes: what they must say for one kind of whole GPUs to be selected."""

from __future__ import annotations

PRODUCT = "nvidia.com/gpu.product"
"""Set by GPU feature discovery; -MIG- and -SHARED stand for parts (NVIDIA/k8s-device-plugin)."""


OTHER_NODES = (
    "Quota and runtimes are computed for one GPU, and the nodes have another: jobs run slower, run "
    "out of GPU memory, or, where no node matches, wait for ever: `no topology domains at level: "
    "<label>` (seen with Kueue 0.19.2)."
)
