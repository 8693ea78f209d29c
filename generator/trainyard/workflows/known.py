"""Find what needs no verification: this machine did it before, or a commit has the same bytes."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from trainyard import __version__
from trainyard.diagnostics import TreeError
from trainyard.generation.generate import Generation, Target
from trainyard.generation.objects import component_manifests
from trainyard.git.repository import Repository, find_commit
from trainyard.git.worktree import work_tree
from trainyard.model.component import Component
from trainyard.model.manifest import UNLISTED, unit_of
from trainyard.model.named import by_name
from trainyard.model.platform import Site
from trainyard.proofs import digest_of, proof
from trainyard.render.unit import units
from trainyard.tree.commit import CommitTree, tree_of
from trainyard.tree.tree import files_of
from trainyard.verify.tools import Tool
from trainyard.workflows.committed import Count
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
    head = (b"verified", *with_what, site.cluster.release.identity.encode(), site.name.encode())
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


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What is the same in a commit.

    Args:
        ref: name of the commit, as the user gave it.
        commit: its id, for people.
        units: of each cluster, their folders.
        files: of each cluster, paths of the files that no unit has: samples and artifacts.
    """

    ref: str = ""
    commit: str = ""
    units: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, cluster: str) -> tuple[str, ...]:
        """Return the units and files of a cluster."""
        return (*self.units.get(cluster, ()), *self.files.get(cluster, ()))


def unchanged_since(place: Target, generation: Generation, ref: str) -> Unchanged:
    """Return what a tree has in common with a commit.

    A unit is the same if all its files are, and all files of the components that it includes.
    Nothing of a cluster is the same if the commit's tree is from another version of Trainyard or
    for another release: its rules and schemas differ.

    Args:
        place: the profiles and the tree, in a Git work tree.
        generation: that the tree was compared with a moment ago.
        ref: branch, tag or id of the commit; empty to compare with none.

    Raises:
        TreeError: the tree is in no work tree, or there is no such commit.
        ToolError: Git is missing or broken.
    """
    if not ref:
        return Unchanged()
    base = _read_base(place, ref)
    platform = generation.checked.platform
    sites = platform.sites if platform else ()
    units_of_sites, files_of_sites = {}, {}
    for site in sites:
        if site.name in generation.manifests and base.fits(site):
            units_of_sites[site.name] = tuple(_units(site, generation, base))
            files_of_sites[site.name] = tuple(_files(site, generation, base))
    return Unchanged(ref, base.tree.commit.short, units_of_sites, files_of_sites)


@dataclass(frozen=True, slots=True)
class _Base:
    """The tree and the components of a commit.

    Args:
        components: their folder, by the same paths as in the profiles; None for that of another
            repository, so that no component is known and every unit with one is verified.
    """

    tree: CommitTree
    components: CommitTree | None

    def fits(self, site: Site) -> bool:
        """Return whether a cluster's tree is of this version of Trainyard, for its release."""
        lock = self.tree.lock(site.name)
        wanted = (__version__, site.cluster.release.identity)
        return lock is not None and (lock.tool, lock.release) == wanted


def _read_base(place: Target, ref: str) -> _Base:
    found = work_tree(place.target)
    if found is None:
        raise TreeError(f"{place.target} is in no Git work tree, so there is no commit to read")
    root, tree = found
    repository = Repository(root)
    commit = find_commit(repository, ref)
    components = os.path.realpath(place.root / "components")
    folder = Path(os.path.relpath(components, root)).as_posix()
    there = None if folder.startswith("../") else tree_of(repository, commit, folder)
    return _Base(tree_of(repository, commit, tree), there)


def _units(site: Site, generation: Generation, base: _Base) -> Iterator[str]:
    """Yield the units of a cluster that the commit has."""
    changed = {*_changed_components(site, generation, base)}
    tenants = site.units
    now, then = _by_unit(generation.files), _by_unit(base.tree.paths({site.name}))
    for unit in units(generation.manifests[site.name]):
        key = f"{site.name}/{unit}"
        tenant = tenants.get(unit)
        included = by_name(tenant.components if tenant else ())
        files = {path: generation.files[path] for path in now[key]}
        if changed.isdisjoint(included) and base.tree.has(files, then.get(key, ())):
            yield unit


def _by_unit(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the paths of a tree by cluster and unit, e.g. ``lab/teams/nlp``."""
    grouped = defaultdict(list)
    for path in paths:
        cluster, _, inside = path.partition("/")
        grouped[f"{cluster}/{unit_of(inside)}"].append(path)
    return dict(grouped)


def _changed_components(site: Site, generation: Generation, base: _Base) -> Iterator[str]:
    """Yield the components of a cluster's teams that differ from those of the commit."""
    profiles = generation.checked.profiles
    sources = [*profiles.components.values(), *profiles.component_files.values()]
    listed = chain.from_iterable(tenant.components for tenant in site.tenants)
    for name in sorted(by_name(listed)):
        content = {}
        for source in sources:
            if source.file.startswith(f"profiles/components/{name}/"):
                content[source.file.removeprefix("profiles/components/")] = source.content
        if base.components is None or not base.components.has(
            content, base.components.paths({name})
        ):
            yield name


def _files(site: Site, generation: Generation, base: _Base) -> Iterator[str]:
    """Yield the files of a cluster that are in no unit, and that the commit has."""
    for manifest in generation.manifests[site.name]:
        path = f"{site.name}/{manifest.path}"
        if manifest.unit in UNLISTED and base.tree.holding({path: generation.files[path]}):
            yield manifest.path
