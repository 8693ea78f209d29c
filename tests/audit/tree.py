"""Reads the generated tree and the profiles from disk, sharing no code with the generator."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
        cluster, teams: the profiles as they stand in their files, teams of this cluster only.
        hardware: node types, with what they extend.
        allocations: fabric -> team -> what it holds.
        regulations: by name.
        evidence: the page that answers them; empty where nobody asks.
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

    def of(self, *kinds: str) -> list[Document]:
        return [document for document in self.documents if document.kind in kinds]

    @property
    def openshift(self) -> bool:
        return str(self.cluster["release"]).startswith("openshift")

    @property
    def prefix(self) -> str:
        """Of virtual functions."""
        return "openshift.io" if self.openshift else "nvidia.com"

    def namespaces(self, team: str) -> list[str]:
        """Return a team's own namespace and its further ones."""
        return [
            f"team-{team}",
            *(f"team-{team}-{space}" for space in self.teams[team].get("spaces", {})),
        ]

    def owner(self, namespace: str) -> str:
        """Return the team that has a namespace; empty for nobody's."""
        return next((team for team in self.teams if namespace in self.namespaces(team)), "")

    def pools_of(self, runtime: Document) -> list[str]:
        """Return the pools that a runtime's pods may run on, by its name: of a node type, or of a
        class of nodes."""
        pools = {
            name: fields.get("hardware", name) for name, fields in self.cluster["pools"].items()
        }
        kinds = {
            name: "gpu" if "gpu" in self.hardware[hardware] else "cpu"
            for name, hardware in pools.items()
        }
        exact = [name for name in pools if re.search(rf"-v[0-9]+-{pools[name]}(-|$)", runtime.name)]
        longest = max((len(pools[name]) for name in exact), default=0)
        any_of = [
            name for name in pools if re.search(rf"-v[0-9]+-{kinds[name]}(-|$)", runtime.name)
        ]
        return [name for name in exact if len(pools[name]) == longest] or any_of

    def team_of(self, document: Document) -> str:
        """Return whose a document is; empty for the platform's own."""
        labelled = (
            document.body.get("metadata", {}).get("labels", {}).get(f"{self.domain}/team", "")
        )
        if document.path.startswith("teams/"):
            return document.path.split("/")[1]
        return str(labelled or self.owner(document.namespace))


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


@cache
def load(cluster: str, root: Path = ROOT) -> Tree:
    """Read a cluster's folder and the profiles that it was made from, both below the root."""
    folder, said = root / "overlays" / cluster, root / "profiles"
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.yaml"))}
    found = [Document(name, read(path)) for name, path in files.items()]
    profiles = {path.stem: read(path) for path in sorted((said / "teams").glob("*.yaml"))}
    teams = {name: team for name, team in profiles.items() if team.get("state") != "retired"}
    allocations, evidence = said / "allocations.yaml", folder / "COMPLIANCE.md"
    return Tree(
        name=cluster,
        documents=tuple(each for each in found if each.kind not in {"", "Kustomization"}),
        kustomizations=tuple(each for each in found if each.kind == "Kustomization"),
        domain=read(said / "trainyard.yaml")["domain"],
        cluster=read(said / f"clusters/{cluster}.yaml"),
        teams={name: team for name, team in teams.items() if cluster in team.get("quota", {})},
        hardware={
            path.stem: _hardware(path) for path in sorted((said / "hardware").glob("*.yaml"))
        },
        allocations=read(allocations).get(cluster, {}) if allocations.is_file() else {},
        regulations={
            path.stem: read(path) for path in sorted((said / "compliance").glob("*.yaml"))
        },
        evidence=evidence.read_text(encoding="utf-8") if evidence.is_file() else "",
    )


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
