"""Write the profile of a new runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainyard.model.hardware import AMD64
from trainyard.model.launcher import LAUNCHERS, OPENMPI
from trainyard.model.version import numbers
from trainyard.scaffold.template import filled
from trainyard.yaml_io.scalars import inline

_ABOUT = {
    True: "How an MPI job is launched. Teams list it by name; its image must have mpirun and sshd.",
    False: "How a job is launched. Teams list it by name; its image must have the launcher.",
}
"""First line of the profile, by whether the launcher is one of MPI."""
_DESCRIPTIONS = {
    "openmpi": "MPI programs, started by mpirun of Open MPI.",
    "intel-mpi": "MPI programs, started by mpirun of Intel MPI.",
    "torchrun": "PyTorch programs that use torch.distributed, started by torchrun.",
}
_VERSIONS = {"openmpi": "4.1.6", "intel-mpi": "2021.13", "torch": "2.6.0"}
"""Example version of each launcher's library."""
_CUDA = {"12.6": "2.23.4", "12.8": "2.25.1", "12.9": "2.27.3"}
"""Example versions of CUDA, each with one of NCCL that is built for it."""
_ROCM = {"rocm": "6.4"}
"""Example version of what RCCL is part of."""
_NO_IMAGE = "sha256:" + 64 * "0"


@dataclass(frozen=True, slots=True)
class NewRuntime:
    """A new runtime.

    Args:
        name: of its profile.
        display: its name for people.
        launcher: name of the program that starts ranks.
        hardware: names of the hardware profiles that it runs on.
        cuda: version that the GPUs of that hardware need at least; empty without those of NVIDIA.
        needs_rocm: whether that hardware has GPUs of AMD.
        architectures: of the processors of that hardware, sorted.
        nodes: of its largest job.
        image: with its digest; a placeholder when empty.
    """

    name: str
    display: str
    launcher: str
    hardware: Sequence[str]
    cuda: str
    needs_rocm: bool
    architectures: Sequence[str]
    nodes: int
    image: str = ""


def runtime_profile(runtime: NewRuntime) -> bytes:
    """Return the profile of a runtime; what only its image tells is a placeholder."""
    launcher = LAUNCHERS[runtime.launcher]
    versions = {launcher.library: _VERSIONS[launcher.library]}
    versions |= _gpu_versions(runtime.cuda) if runtime.cuda else {}
    versions |= _ROCM if runtime.needs_rocm else {}
    held = "what the image holds"
    values = {
        "about": _ABOUT[launcher.mpi],
        "name": runtime.name,
        "display": inline(runtime.display),
        "description": inline(_DESCRIPTIONS[launcher.name]),
        "image": _image(runtime),
        "libraries": ", ".join(f'{name}: "{version}"' for name, version in versions.items()),
        "held": f"placeholder: {held}" if runtime.image else held,
        "launcher": f"launcher: {launcher.name}" if launcher is not OPENMPI else "",
        "arch": _architectures(runtime),
        "hardware": ", ".join(map(inline, runtime.hardware)),
        "promised": runtime.nodes,
    }
    return filled("runtime.yaml", values)


def _architectures(runtime: NewRuntime) -> str:
    """Return the line with the architectures of the image; empty for the default."""
    if runtime.architectures == [AMD64]:
        return ""
    return f"arch: [{', '.join(runtime.architectures)}] # placeholder: what the image is for"


def _gpu_versions(needed: str) -> dict[str, str]:
    """Return the first example versions that are not older than what GPUs need."""
    newest = max(_CUDA, key=numbers)
    cuda = next((cuda for cuda in _CUDA if numbers(cuda) >= numbers(needed)), newest)
    return {"cuda": cuda, "nccl": _CUDA[cuda]}


def _image(runtime: NewRuntime) -> str:
    if runtime.image:
        return f"image: {inline(runtime.image)}"
    return (
        "# placeholder: your image and its digest, as `skopeo inspect` shows it\n"
        f"image: registry.example.com/ml/{runtime.name}@{_NO_IMAGE}"
    )
