"""A new repository: one cluster, one node type, one runtime and no team; it generates as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any

from trainyard.diagnostics import TreeError
from trainyard.model.release import Release
from trainyard.scaffold.install import put
from trainyard.yaml_io.scalars import inline

SCAFFOLD = files("trainyard.scaffold") / "files"
LEDGER = "profiles/allocations.yaml"
_SETTINGS = "profiles/trainyard.yaml"
_MARK = "# placeholder"
_FABRICS = {"infiniband": "ib", "roce": "roce"}
"""Name of the fabric, by link."""
_PREPARED = {"infiniband": ["Partitions"], "roce": ["Vlans", "LosslessQueue"]}
"""What the fabric's owner prepares, by link."""
_UNKNOWN = {
    "cpu": "{sockets: 2, cores: 64, threads: 128} # placeholder: the processors of one node",
    "memory": "1Ti # placeholder: the memory of one node",
    "ephemeralStorage": "1788Gi # placeholder: the file system of kubelet on one node",
}
"""Example values of the fields that a preset may leave to the site."""
_BLOCK = 20
"""Prefix length of a team's addresses that the schema of clusters takes by default."""
_SMALLEST_JOB = 2
"""Nodes of the smallest MPI job: one for the launcher, and one more."""
_OPENSHIFT = "pods: 10.128.0.0/14, services: 172.30.0.0/16, machines: 192.0.2.0/24"
_KUBERNETES = "pods: 10.244.0.0/16, services: 10.96.0.0/12, machines: 192.0.2.0/24"
"""The networks that the installers of OpenShift, and of kubeadm with Flannel, propose."""


@dataclass(frozen=True, slots=True)
class FirstCluster:
    """The cluster that a new repository describes.

    Args:
        preset: name of the hardware preset.
        hardware: fields of the preset.
        nodes: of its only pool, at least 2: an MPI job needs one for its launcher.
    """

    release: Release
    preset: str
    hardware: Mapping[str, Any]
    nodes: int

    @property
    def pool(self) -> str:
        """Name of the pool and of its hardware: that of the preset without the vendor."""
        vendor, _, model = self.preset.partition("-")
        return model if "-" in model else f"{vendor}-{model}"

    @property
    def link(self) -> str:
        """Link of the fabric, empty without rails.

        The kernel's RDMA devices are named after their link layer: linux-rdma/rdma-core:
        kernel-boot/rdma_rename.c.
        """
        if not self._rails:
            return ""
        return "roce" if self._rails[0]["device"].startswith("roce") else "infiniband"

    @property
    def block(self) -> int:
        """Prefix length of a team's addresses, so that a team may own every node."""
        functions: int = self.hardware["nic"]["virtualFunctions"]
        # The network's own address and its broadcast address are given to no pod.
        host_bits = (self.nodes * functions + 1).bit_length()
        rail_bits = (len(self._rails) - 1).bit_length()
        return min(_BLOCK, 32 - host_bits - rail_bits)

    @property
    def _rails(self) -> list[Mapping[str, Any]]:
        return [nic for nic in self.hardware.get("nics", ()) if nic["role"] == "rail"]

    @property
    def reserve(self) -> int:
        """Number of nodes that no team may own, so that quota holds when one is down."""
        return 1 if self.nodes > _SMALLEST_JOB else 0


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


def placeholders(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield the line number of each placeholder in a new file, and what belongs there."""
    for number, line in enumerate(content.decode().splitlines(), start=1):
        value, mark, comment = line.partition(_MARK)
        if mark:
            yield number, comment.removeprefix(": ") or value.strip()


def static_files() -> dict[str, bytes]:
    """Return the files that every new repository has, by path."""
    return {
        path.replace("dot-", ".", 1): body for path, body in _below(SCAFFOLD / "repository", "")
    }


def _described(cluster: FirstCluster) -> dict[str, bytes]:
    """Return the profiles that depend on the cluster, by path."""
    values = {
        "release": cluster.release.name,
        "preset": cluster.preset,
        "pool": cluster.pool,
        "size": _size(cluster),
        "reserved": "; quota holds with one down" if cluster.reserve else "",
        "fabrics": _fabrics(cluster),
        "external": "\n".join(_external(cluster)),
        "networks": _networks(cluster.release),
        "unknown": "\n".join(_unknown(cluster.hardware)),
        "cpu": cluster.hardware["system"]["cpu"],
        "memory": cluster.hardware["system"]["memory"],
        "libraries": _libraries(cluster.hardware),
        "promised": cluster.nodes - cluster.reserve,
    }
    return {
        "profiles/clusters/lab.yaml": _filled("cluster.yaml", values),
        f"profiles/hardware/{cluster.pool}.yaml": _filled("hardware.yaml", values),
        "profiles/runtimes/openmpi.yaml": _filled("runtime.yaml", values),
    }


def _size(cluster: FirstCluster) -> str:
    parts = [f"nodes: {cluster.nodes}"]
    if cluster.reserve:
        parts.append(f"reserve: {cluster.reserve}")
    if cluster.link:
        parts.append(f"fabric: {_FABRICS[cluster.link]}")
    return ", ".join(parts)


def _fabrics(cluster: FirstCluster) -> str:
    if not cluster.link:
        return ""
    block = cluster.block
    larger = f"    block: {block} # a team may own every node" if block < _BLOCK else ""
    return _filled(f"fabrics/{cluster.link}.yaml", {"block": block, "larger": larger}).decode()


def _networks(release: Release) -> str:
    return _OPENSHIFT if "projects" in release.features else _KUBERNETES


def _external(cluster: FirstCluster) -> Iterator[str]:
    """Yield the lines of what the tree needs and does not define."""
    if not cluster.link:
        return
    fabric = _FABRICS[cluster.link]
    yield "external: # what the tree needs and does not define, and who owns it"
    names = [f"{kind}/{fabric}" for kind in _PREPARED[cluster.link]]
    if cluster.release.ipam == "whereabouts":
        names.append("IPReconciler/whereabouts")
    yield from (f"  {name}: fabric team # placeholder: the owner's name" for name in names)


def _unknown(hardware: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each field that the preset leaves to the site."""
    for field, example in _UNKNOWN.items():
        if field not in hardware:
            yield f"{field}: {example}"


def _libraries(hardware: Mapping[str, Any]) -> str:
    mpi = 'openmpi: "4.1.6"'
    return f'{mpi}, cuda: "12.6", nccl: "2.23.4"' if "gpu" in hardware else mpi


def _filled(name: str, values: Mapping[str, object]) -> bytes:
    """Return a file of the scaffold with its values, without the lines that are then empty."""
    text = Template((SCAFFOLD / name).read_text(encoding="utf-8")).substitute(values)
    return "".join(line for line in text.splitlines(keepends=True) if line.strip()).encode()


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = prefix + entry.name
        found += _below(entry, f"{path}/") if entry.is_dir() else [(path, entry.read_bytes())]
    return found
