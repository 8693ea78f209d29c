"""Variables of containers that a job may not set."""

from __future__ import annotations

REFUSED = (
    "CUDA_VERSION",
    "EXPORT_COMMAND",
    "JOB_COMPLETION_INDEX",
    "NVIDIA_GDRCOPY",
    "NVIDIA_GDS",
    "NVIDIA_IMEX_CHANNELS",
    "NVIDIA_MIG_CONFIG_DEVICES",
    "NVIDIA_MIG_MONITOR_DEVICES",
    "NVIDIA_MOFED",
    "NVIDIA_NVSWITCH",
    "NVIDIA_VISIBLE_DEVICES",
    "SSH_CRYPTO",
)
"""The platform's scripts obey some. By the others NVIDIA's container runtime gives a container
devices that it did not ask for: with CUDA_VERSION, as in an old image, all GPUs of the node
(NVIDIA/nvidia-container-toolkit:internal/config/image/cuda_image.go@d34b304), and with four others
those for storage and fabrics (internal/modifier/gated.go@d34b304)."""

POD_FIELDS = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)
"""Fields of its pod that a variable may name, beside labels and annotations
(kubernetes/kubernetes:pkg/apis/core/validation/validation.go@v1.36.3)."""
