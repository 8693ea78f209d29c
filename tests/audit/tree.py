"""Read the generated tree and the profiles from disk, with no code of the generator."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Document:
    """One object and the file that holds it, below the cluster's folder."""

    path: str
    body: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.body.get("kind", ""))

    @property
    def group_kind(self) -> tuple[str, str]:
        return str(self.body["apiVersion"]).rpartition("/")[0], self.kind

    @property
    def name(self) -> str:
        return str(self._metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        return str(self._metadata.get("namespace", ""))

    @property
    def _metadata(self) -> dict[str, Any]:
        return dict(self.body.get("metadata", {}))

    @property
    def unit(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def spec(self) -> dict[str, Any]:
        return dict(self.body.get("spec") or {})

    def annotation(self, key: str) -> str:
        return str(self._metadata.get("annotations", {}).get(key, ""))


@dataclass(frozen=True)
class Tree:
    """A cluster's folder.

    Args:
        name: of the cluster.
        documents: every object, samples included.
        kustomizations: the units' own files.
        domain: prefix of our labels.
        cluster, teams: contents of the profiles' files, teams of this cluster only.
        hardware: node types, merged with the presets that they extend.
        allocations: fabric -> team -> its allocation.
        regulations: by name.
        evidence: the page of evidence for regulations; empty where there is none.
        readme: the README of the cluster's folder.
    """

    name: str
    documents: tuple[Document, ...]
    kustomizations: tuple[Document, ...]
    domain: str
    cluster: dict[str, Any]
    teams: dict[str, dict[str, Any]]
    hardware: dict[str, dict[str, Any]]
    allocations: dict[str, dict[str, dict[str, str]]]
    regulations: dict[str, dict[str, Any]]
    evidence: str
    readme: str

    def of(self, *kinds: str) -> list[Document]:
        return [document for document in self.documents if document.kind in kinds]

    @property
    def openshift(self) -> bool:
        return str(self.cluster["release"]).startswith("openshift")

    @property
    def prefix(self) -> str:
        """Prefix of the resources of virtual functions."""
        return "openshift.io" if self.openshift else "nvidia.com"

    def namespaces(self, team: str) -> list[str]:
        """Return a team's own namespace and its further ones."""
        spaces = self.teams[team].get("spaces", {})
        return [f"team-{team}", *(f"team-{team}-{space}" for space in spaces)]

    def all_namespaces(self) -> Iterator[str]:
        """Yield the namespaces of all teams."""
        for team in self.teams:
            yield from self.namespaces(team)

    def owner(self, namespace: str) -> str:
        """Return the team that owns a namespace; empty if none does."""
        return next((team for team in self.teams if namespace in self.namespaces(team)), "")

    def pools_of(self, runtime: Document) -> list[str]:
        """Return the pools of a runtime's pods, by its name: of a node type, or of a class."""
        pools = list(self.cluster["pools"])
        exact = [pool for pool in pools if _is_for(runtime, self.node_type(pool))]
        if not exact:
            return [pool for pool in pools if _is_for(runtime, self._node_class(pool))]
        # The name of one type may be the start of another's.
        longest = max(map(self.node_type, exact), key=len)
        return [pool for pool in exact if len(self.node_type(pool)) == len(longest)]

    def node_type(self, pool: str) -> str:
        """Return the name of a pool's hardware profile."""
        return str(self.cluster["pools"][pool].get("hardware", pool))

    def hardware_of(self, pool: str) -> dict[str, Any]:
        """Return the hardware profile of a pool."""
        return self.hardware[self.node_type(pool)]

    def _node_class(self, pool: str) -> str:
        return "gpu" if "gpu" in self.hardware_of(pool) else "cpu"

    def team_of(self, document: Document) -> str:
        """Return the team that owns a document; empty for the platform's own."""
        if document.path.startswith("teams/"):
            return document.path.split("/")[1]
        labels = document.body.get("metadata", {}).get("labels", {})
        return str(labels.get(f"{self.domain}/team") or self.owner(document.namespace))


def _is_for(runtime: Document, nodes: str) -> bool:
    """Return whether a runtime's name ends with a node type or a class of nodes, and a team."""
    return bool(re.search(rf"-v[0-9]+-{nodes}(-|$)", runtime.name))


def read(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the place and text of every string, keys included."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield f"{path}.{key}", str(key)
            yield from strings(member, f"{path}.{key}")
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from strings(member, f"{path}[{i}]")
    elif isinstance(value, str):
        yield path, value


def mappings(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and content of every mapping."""
    if isinstance(value, dict):
        yield path, value
        for key, member in value.items():
            yield from mappings(member, f"{path}.{key}")
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from mappings(member, f"{path}[{i}]")


@cache
def clusters() -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in (ROOT / "overlays").glob("*/trainyard.lock")))


_NO_OBJECTS = {"", "CustomResourceStateMetrics", "Kustomization"}
"""Kinds of documents that no API server gets."""


@cache
def load(cluster: str, root: Path = ROOT) -> Tree:
    """Read a cluster's folder and the profiles that it was made from, both below the root."""
    folder, profiles = root / "overlays" / cluster, root / "profiles"
    found = [
        Document(path.relative_to(folder).as_posix(), read(path))
        for path in sorted(folder.rglob("*.yaml"))
    ]
    allocations, evidence = profiles / "allocations.yaml", folder / "COMPLIANCE.md"
    return Tree(
        name=cluster,
        documents=tuple(each for each in found if each.kind not in _NO_OBJECTS),
        kustomizations=tuple(each for each in found if each.kind == "Kustomization"),
        domain=read(profiles / "trainyard.yaml")["domain"],
        cluster=read(profiles / f"clusters/{cluster}.yaml"),
        teams=dict(_teams(profiles / "teams", cluster)),
        hardware=_by_name(profiles / "hardware", _hardware),
        allocations=read(allocations).get(cluster, {}) if allocations.is_file() else {},
        regulations=_by_name(profiles / "compliance", read),
        evidence=evidence.read_text(encoding="utf-8") if evidence.is_file() else "",
        readme=(folder / "README.md").read_text(encoding="utf-8"),
    )


def _by_name(folder: Path, reader: Callable[[Path], Any]) -> dict[str, Any]:
    """Return the contents of the files of a folder by their names."""
    return {path.stem: reader(path) for path in sorted(folder.glob("*.yaml"))}


def _teams(folder: Path, cluster: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the profiles of teams with quota on a cluster; those of retired teams are left out."""
    for name, team in _by_name(folder, read).items():
        if team.get("state") != "retired" and cluster in team.get("quota", {}):
            yield name, team


def _hardware(path: Path) -> dict[str, Any]:
    own = read(path)
    if "extends" not in own:
        return dict(own)
    local = path.with_name(f"{own['extends']}.yaml")
    preset = ROOT / f"generator/trainyard/presets/{own['extends']}.yaml"
    return _merged(_hardware(local if local.is_file() and local != path else preset), own)


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {
        key: _merged(base[key], over[key])
        for key in base
        if isinstance(over.get(key), dict) and key != "labels"
    }
    return {**base, **over, **both}
