"""Find what needs no verification: the same bytes were verified with the same tools and release."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from trainyard.generation.generate import Generation
from trainyard.generation.objects import component_manifests
from trainyard.model.component import Component
from trainyard.model.manifest import UNLISTED, unit_of
from trainyard.model.named import by_name
from trainyard.model.platform import Site
from trainyard.proofs import digest_of, proof
from trainyard.tree.tree import files_of
from trainyard.verify.tools import Tool
from trainyard.workflows.counts import Count
from trainyard.yaml_io.manifests import parse_manifests

_KUSTOMIZATION = "kustomization.yaml"


@dataclass(frozen=True, slots=True)
class Part:
    """Files of a cluster that are verified together: a sync unit, or a folder that no unit lists.

    Args:
        folder: below the cluster's.
        proof: that it was verified and nothing was found.
        files: generated objects in it.
        added: objects of hand-written components.
    """

    folder: str
    proof: str
    files: int
    added: int

    @property
    def is_unit(self) -> bool:
        """Whether Argo CD syncs it."""
        return self.folder not in UNLISTED


def parts_of(site: Site, generation: Generation, tools: tuple[Tool, ...]) -> Iterator[Part]:
    """Yield the parts of a cluster's tree.

    Args:
        site: the cluster.
        generation: that the tree was compared with a moment ago.
        tools: that verify.
    """
    with_what = [f"{tool.name} {tool.version}".encode() for tool in tools]
    head = (b"verified", *with_what, site.cluster.release.name.encode(), site.name.encode())
    added = Counter(manifest.unit for manifest in component_manifests(site))
    tenants = site.units
    for folder, files in _folders(site, generation).items():
        tenant = tenants.get(folder)
        included = _sources(generation, tenant.components if tenant else ())
        digest = digest_of(sorted({**included, **files}.items()))
        yield Part(folder, proof(*head, digest), _objects(folder, files), added[folder])


def _folders(site: Site, generation: Generation) -> dict[str, dict[str, bytes]]:
    """Return the files of each part by path below the cluster's folder."""
    folders: dict[str, dict[str, bytes]] = defaultdict(dict)
    for path, content in files_of(site.name, generation.files):
        folders[unit_of(path)][path] = content
    for folder in list(folders):
        if folder not in UNLISTED and f"{folder}/{_KUSTOMIZATION}" not in folders[folder]:
            del folders[folder]
    return folders


def _sources(generation: Generation, components: Iterable[Component]) -> dict[str, bytes]:
    """Return the files of hand-written components by path."""
    profiles = generation.checked.profiles
    sources = {}
    for name in sorted(by_name(components)):
        sources[profiles.components[name].file] = profiles.components[name].content
        for file, source in profiles.component_files.items():
            if file.startswith(f"profiles/components/{name}/"):
                sources[file] = source.content
    return sources


def _objects(folder: str, files: Mapping[str, bytes]) -> int:
    """Return how many objects a part has: those that its kustomization lists, or its files."""
    if folder in UNLISTED:
        return sum(path.endswith(".yaml") for path in files)
    (kustomization,) = parse_manifests(files[f"{folder}/{_KUSTOMIZATION}"].decode())
    return len(kustomization["resources"])


def with_proven(count: Count, parts: Iterable[Part]) -> Count:
    """Return the numbers of a cluster with those of the parts that were verified before."""
    units: dict[str, int] = {}
    samples = artifacts = files = 0
    for part in parts:
        files += part.files
        if part.is_unit:
            units[part.folder] = part.files + part.added
        elif part.folder == "samples":
            samples += part.files
        else:
            artifacts += part.files
    objects = sum(units.values())
    return replace(
        count,
        objects=count.objects + objects,
        valid=count.valid + objects,
        built=count.built + objects,
        conform=count.conform + objects,
        units=count.units + len(units),
        units_built=count.units_built + len(units),
        samples=count.samples + samples,
        artifacts=count.artifacts + artifacts,
        others=count.others - files,
        by_unit=dict(sorted({**count.by_unit, **units}.items())),
    )
