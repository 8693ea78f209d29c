"""Find what a commit has already: the units and files whose verification would repeat its own."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from trainyard import __version__
from trainyard.diagnostics import TreeError
from trainyard.generation.generate import Generation, Target
from trainyard.git.repository import Repository, find_commit
from trainyard.git.worktree import work_tree
from trainyard.model.manifest import UNLISTED, unit_of
from trainyard.model.named import by_name
from trainyard.model.platform import Site
from trainyard.render.unit import units
from trainyard.tree.commit import CommitTree, tree_of


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
        wanted = (__version__, site.cluster.release.name)
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
