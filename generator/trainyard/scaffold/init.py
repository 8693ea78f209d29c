"""A new repository: one cluster, one node type, one runtime and no team; it generates as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.diagnostics import TreeError
from trainyard.model.accelerator import AMD, NVIDIA, Maker, Product, known, maker_of
from trainyard.model.hardware import AMD64, ARM64
from trainyard.model.release import Release
from trainyard.scaffold.cluster import NewPool, cluster_profile
from trainyard.scaffold.hardware import hardware_profile
from trainyard.scaffold.install import put
from trainyard.scaffold.runtime import NewRuntime, runtime_profile
from trainyard.scaffold.template import static_files
from trainyard.yaml_io.scalars import inline

_SETTINGS = "profiles/trainyard.yaml"


@dataclass(frozen=True, slots=True)
class FirstCluster:
    """The cluster that a new repository describes.

    Args:
        name: must differ in all repositories that one Argo CD syncs.
        preset: name of the hardware preset.
        hardware: fields of the preset.
        nodes: of its only pool. On a single one, an MPI job is its launcher alone.
    """

    name: str
    release: Release
    preset: str
    hardware: Mapping[str, Any]
    nodes: int

    @property
    def pool(self) -> NewPool:
        """Its pool, with the name of its hardware: that of the preset without the vendor."""
        vendor, _, model = self.preset.partition("-")
        name = model if "-" in model else f"{vendor}-{model}"
        nics = self.hardware.get("nics", ())
        devices = tuple(nic.get("device", "") for nic in nics if nic["role"] == "rail")
        functions = self.hardware["nic"]["virtualFunctions"] if devices else 0
        return NewPool(name, name, self.nodes, devices, functions, self._maker is NVIDIA)

    @property
    def cuda(self) -> str:
        """CUDA version that its GPUs need at least; empty without GPUs."""
        return self._product.minimum_cuda if self._product else ""

    @property
    def needs_rocm(self) -> bool:
        """Whether its GPUs are of AMD."""
        return self._maker is AMD

    @property
    def architecture(self) -> str:
        """Architecture of its processors."""
        return ARM64 if self._product and self._product.has_grace else AMD64

    @property
    def _maker(self) -> Maker | None:
        return maker_of(self.hardware["gpu"]["product"]) if "gpu" in self.hardware else None

    @property
    def _product(self) -> Product | None:
        return known(self.hardware["gpu"]["product"]) if "gpu" in self.hardware else None


def init(folder: Path, cluster: FirstCluster, path: str = "overlays") -> dict[Path, bytes]:
    """Write the first profiles of a repository, and the Git files that it does not have yet.

    Args:
        folder: the repository, or a folder of it; it is created when it does not exist.
        cluster: the cluster to describe.
        path: the tree's folder from the root of the Git repository.

    Returns:
        The content of the files written, sorted by path.

    Raises:
        TreeError: there are profiles already, or the folder can't be written; nothing is changed.
    """
    profiles = folder / "profiles"
    if profiles.exists() or profiles.is_symlink():
        raise TreeError(
            f"{profiles} is there already; `trainyard init` only begins where there is none"
        )
    every = {**static_files(), **_described(cluster)}
    if path != "overlays":
        comment = "of the generated tree, from the root of the Git repository"
        every[_SETTINGS] += f"path: {inline(path)} # {comment}\n".encode()
    content = _missing(folder, every)
    alone = sorted(name for name in content if "/" not in name)
    put(folder, content, (*alone, "profiles"))
    return {folder / name: content[name] for name in sorted(content)}


def _missing(folder: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: body for name, body in files.items() if not (folder / name).exists()}


def _described(cluster: FirstCluster) -> dict[str, bytes]:
    """Return the profiles that depend on the cluster, by path."""
    pool = cluster.pool
    runtime = NewRuntime(
        name="openmpi",
        display="Open MPI",
        launcher="openmpi",
        hardware=[pool.hardware],
        cuda=cluster.cuda,
        needs_rocm=cluster.needs_rocm,
        architectures=[cluster.architecture],
        nodes=pool.nodes - pool.reserve,
    )
    return {
        f"profiles/clusters/{cluster.name}.yaml": cluster_profile(cluster.release, [pool]),
        f"profiles/hardware/{pool.hardware}.yaml": hardware_profile(
            cluster.preset, cluster.hardware
        ),
        "profiles/runtimes/openmpi.yaml": runtime_profile(runtime),
    }
