"""What a runtime takes for granted of the hardware that it runs on."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules import _walk
from trainyard.rules._check import Check

_ARCHITECTURE = "kubernetes.io/arch"
_ARM_PRODUCTS = ("NVIDIA-GB", "NVIDIA-GH")
"""Superchips: an Arm CPU with the GPU beside it."""

FABRIC_WITHOUT_RAILS = Rule(
    id="runtime/fabric-without-rails",
    severity=Severity.ERROR,
    summary="A runtime that says `gpudirect` or `rdma` runs on hardware with rails.",
    why="No virtual function is asked for, and NCCL and UCX fall back to sockets without a word: jobs are slow.",
    fix="Remove `fabric`: ranks then take the fastest that each node has. Or take the hardware out of the runtime.",
)
MIXED_ARCHITECTURES = Rule(
    id="runtime/mixed-architectures",
    severity=Severity.WARNING,
    summary="A runtime's hardware has processors of one architecture.",
    why=(
        "Unless its digest is that of an index with an image for each, the image is of one architecture, and on the"
        " other its pods end with `exec format error`."
    ),
    fix="Make a runtime for each, or waive this when the digest is that of an index with both.",
)
UNSTATED_CUDA = Rule(
    id="runtime/unstated-cuda",
    severity=Severity.WARNING,
    summary="A runtime on GPUs states its CUDA.",
    why=(
        "Nothing compares it with what the GPUs need: a CUDA that is too old starts, and its first kernel fails with"
        " `no kernel image is available for execution on the device`."
    ),
    fix='Add it to `libraries`: {cuda: "12.6"}, as `nvcc --version` in the image says.',
)


def fabric_without_rails(platform: Platform) -> Iterator[Diagnostic]:
    """Compare what each runtime says of the fabric with the ports of its hardware."""
    for runtime in platform.runtimes:
        for each in _walk.hardware(platform):
            if runtime.fabric and runtime.uses_rdma and each.name in runtime.hardware and not each.rails:
                message = f"runtime `{runtime.name}` wants {runtime.fabric}, but `{each.name}` nodes have no rails"
                notes = [Note("no port here has the role `rail`", each.at / "nics")]
                yield FABRIC_WITHOUT_RAILS.at(runtime.at / "fabric", message, notes=notes)


def mixed_architectures(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the processors of each runtime's hardware."""
    for runtime in platform.runtimes:
        kinds = {_architecture(each): each for each in _walk.hardware(platform) if each.name in runtime.hardware}
        if len(kinds) > 1:
            told = " and ".join(f"{each.name} ({architecture})" for architecture, each in sorted(kinds.items()))
            notes = [Note(each.name, each.at) for _, each in sorted(kinds.items())]
            yield MIXED_ARCHITECTURES.at(
                runtime.at / "hardware", f"runtime `{runtime.name}` runs on {told}", notes=notes
            )


def unstated_cuda(platform: Platform) -> Iterator[Diagnostic]:
    """Find runtimes whose CUDA can't be compared with what their GPUs need."""
    for runtime in platform.runtimes:
        kinds = [each for each in _walk.hardware(platform) if each.gpu and each.name in runtime.hardware]
        if kinds and "cuda" not in runtime.libraries:
            message = f"runtime `{runtime.name}` runs on GPUs and does not state its CUDA"
            yield UNSTATED_CUDA.at(runtime.at / "libraries", message)


def _architecture(hardware: Hardware) -> str:
    """Return an architecture as nodes are labelled with it."""
    superchip = hardware.gpu is not None and hardware.gpu.product.startswith(_ARM_PRODUCTS)
    return hardware.labels.get(_ARCHITECTURE, "arm64" if superchip else "amd64")


CHECKS = (
    Check(FABRIC_WITHOUT_RAILS, fabric_without_rails),
    Check(MIXED_ARCHITECTURES, mixed_architectures),
    Check(UNSTATED_CUDA, unstated_cuda),
)
