"""What is known of accelerators: their makers, and the products by the label of their nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.model.named import by_name
from trainyard.model.nearest import nearest

_FIRST_CUDA: Mapping[str, str] = {
    "7.0": "9.0",
    "7.5": "10.0",
    "8.0": "11.0",
    "8.6": "11.1",
    "8.9": "11.8",
    "9.0": "11.8",
    "10.0": "12.8",
    "10.3": "12.9",
    "12.0": "12.8",
}
"""First CUDA version that compiles for a compute capability, as its release notes say."""

_MEMORY_NODES = 8
"""NUMA nodes of each GPU's memory on Grace, kept for the instances of MIG: 34 NUMA nodes of two
CPUs and four GPUs (kubernetes/kubernetes#135581), 9 of one and one (bytedance/xpu-perf#129)."""


@dataclass(frozen=True, slots=True)
class Maker:
    """A maker of accelerators.

    Args:
        name: as people write it.
        resource: extended resource that its device plugin advertises.
        product: how the names of its products begin, in any case.
        label: of nodes, which has the product.
        platform: what programs for its products are built for, as people write it.
        transports: of UCX, to the memory of its GPUs.
        copies: of UCX, by which a processor reads small messages there.
        tool: program that lists and numbers its GPUs.
        operator: key of its operator in the versions of releases; empty without one.
        exporter: source of metrics of its GPUs that alerts and panels read; empty without one.
        is_tested: whether acceptance tests know its devices.
        lacks: what Trainyard lacks for its products, so that it refuses them; empty if nothing.
        without: what its products are used without; empty if they have all.
    """

    name: str
    resource: str
    product: re.Pattern[str]
    label: str
    platform: str
    tool: str
    transports: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    operator: str = ""
    exporter: str = ""
    is_tested: bool = False
    lacks: str = ""
    without: str = ""

    @property
    def library(self) -> str:
        """Name of the platform's version in `libraries` of a runtime."""
        return self.platform.lower()


NVIDIA = Maker(
    name="NVIDIA",
    resource="nvidia.com/gpu",
    product=re.compile(r"NVIDIA|Tesla|Quadro", re.IGNORECASE),
    label="nvidia.com/gpu.product",
    platform="CUDA",
    tool="nvidia-smi",
    transports=("cuda_copy", "cuda_ipc"),
    copies=("gdr_copy",),
    operator="gpuOperator",
    exporter="dcgm-exporter",
    is_tested=True,
)

AMD = Maker(
    name="AMD",
    resource="amd.com/gpu",
    product=re.compile(r"AMD|Instinct|MI\d{3}", re.IGNORECASE),
    label="amd.com/gpu.product-name",
    platform="ROCm",
    tool="rocm-smi",
    # As `ucx_info` lists them (openucx/ucx#10583). RCCL reads the variables of NCCL (ROCm
    # documentation, RCCL environment variables).
    transports=("rocm_copy", "rocm_ipc"),
    without="alerts on GPUs, panels of their use, and acceptance tests of GPUs and rails",
)

INTEL = Maker(
    name="Intel",
    resource="habana.ai/gaudi",
    product=re.compile(r"Intel|Habana|Gaudi|HL-?\d", re.IGNORECASE),
    label="",
    platform="SynapseAI",
    tool="hl-smi",
    lacks="the settings of HCCL for each runtime, and a fabric of the cards' own Ethernet ports",
)

MAKERS = (NVIDIA, AMD, INTEL)
"""Resources and labels: NVIDIA/k8s-device-plugin, ROCm/k8s-device-plugin:docs/user-guide/
installation.md@190849c, and Intel Gaudi's documentation, Running Kubernetes Workloads."""


@dataclass(frozen=True, slots=True)
class Board:
    """A board of accelerators: how many it has, and the CPUs of servers with it."""

    gpus: int
    sockets: int


@dataclass(frozen=True, slots=True)
class Product:
    """An accelerator of NVIDIA.

    Args:
        name: value of the label ``nvidia.com/gpu.product``, without the ending of a sliced one.
        capability: its compute capability, e.g. ``9.0``.
        board: that it is soldered to; None for a card.
        has_grace: whether it is soldered to a Grace CPU.
        nvlink_nodes: nodes whose GPUs NVLink connects with each other
            (kubernetes-sigs/dra-driver-nvidia-gpu:site/content/docs@9593204, ComputeDomains).
    """

    name: str
    capability: str
    board: Board | None = None
    has_grace: bool = False
    nvlink_nodes: int = 1

    @property
    def minimum_cuda(self) -> str:
        """First CUDA version that supports it, e.g. ``11.8``."""
        return _FIRST_CUDA[self.capability]

    @property
    def memory_nodes(self) -> int:
        """NUMA nodes without a core that the memory of each makes."""
        return _MEMORY_NODES if self.has_grace else 0


_HGX = Board(8, 2)
"""Servers with a board of eight have two CPUs: all of mlcommons/training_results_v5.1@441d65f."""

PRODUCTS: Mapping[str, Product] = by_name(
    (
        Product("NVIDIA-A10", "8.6"),
        Product("NVIDIA-A100-80GB-PCIe", "8.0"),
        Product("NVIDIA-A100-PCIE-40GB", "8.0"),
        Product("NVIDIA-A100-SXM4-40GB", "8.0", _HGX),
        Product("NVIDIA-A100-SXM4-80GB", "8.0", _HGX),
        Product("NVIDIA-A30", "8.0"),
        Product("NVIDIA-A40", "8.6"),
        Product("NVIDIA-B200", "10.0", _HGX),
        Product("NVIDIA-B300-SXM6-AC", "10.3", _HGX),
        Product("NVIDIA-GB200", "10.0", Board(4, 2), has_grace=True, nvlink_nodes=18),
        Product("NVIDIA-GB300", "10.3", Board(4, 2), has_grace=True, nvlink_nodes=18),
        Product("NVIDIA-GH200-480GB", "9.0", Board(1, 1), has_grace=True),
        Product("NVIDIA-H100-80GB-HBM3", "9.0", _HGX),
        Product("NVIDIA-H100-NVL", "9.0"),
        Product("NVIDIA-H100-PCIe", "9.0"),
        Product("NVIDIA-H200", "9.0", _HGX),
        Product("NVIDIA-H200-NVL", "9.0"),
        Product("NVIDIA-L4", "8.9"),
        Product("NVIDIA-L40", "8.9"),
        Product("NVIDIA-L40S", "8.9"),
        Product("NVIDIA-RTX-A6000", "8.6"),
        Product("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "12.0"),
        Product("Tesla-T4", "7.5"),
        Product("Tesla-V100-PCIE-16GB", "7.0"),
        Product("Tesla-V100-SXM2-16GB", "7.0"),
        Product("Tesla-V100-SXM2-32GB", "7.0"),
    )
)
"""Labels as seen on nodes: `kubectl get nodes -L nvidia.com/gpu.product` of the National Research
Platform, and of Blackwell NVIDIA/k8s-launch-kit:presets, ai-dynamo/dynamo:recipes. Compute
capabilities: NVIDIA's page CUDA GPU Compute Capability."""


SLICED = re.compile(r"-MIG-.*|-SHARED\Z")
"""Ending of the label of parts of a GPU
(NVIDIA/k8s-device-plugin:docs/gpu-feature-discovery/README.md)."""


def whole(product: str) -> str:
    """Return the product that a label is of, whole or sliced."""
    return SLICED.sub("", product)


def known(product: str) -> Product | None:
    """Return what is known of a product of NVIDIA, whole or sliced; None if nothing is."""
    return PRODUCTS.get(whole(product))


def meant(product: str) -> str:
    """Return the known product that a misspelt one is meant for; empty when none is.

    One without its maker is compared with the rest of the names, so that other makers' products
    are never taken for one of NVIDIA.
    """
    own = f"{NVIDIA.name}-"
    if product.startswith(own):
        return nearest(product, PRODUCTS)
    name = nearest(product, (name.removeprefix(own) for name in PRODUCTS))
    return f"{own}{name}" if name else ""


def maker_of(product: str) -> Maker | None:
    """Return who makes a product, by its name; None if no known maker does."""
    return next((maker for maker in MAKERS if maker.product.match(product)), None)


def maker_by(resource: str) -> Maker | None:
    """Return who advertises an extended resource; None if no known maker does."""
    return next((maker for maker in MAKERS if maker.resource == resource), None)
