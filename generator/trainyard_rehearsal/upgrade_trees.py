"""The trees of a cluster's upgrade: of a commit, and of the merges that the plan asks for."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from trainyard.change.diff import Diff
from trainyard.change.impact.objects import ObjectChange
from trainyard.change.sides import Side, find_places, take_side
from trainyard.change.upgrade import ReleaseChange
from trainyard.diagnostics import Severity, TreeError
from trainyard.generation.generate import generate
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.space import Sample
from trainyard.profiles.read import load
from trainyard.scaffold.edit import with_value, without
from trainyard.tree.tree import Tree, files_of
from trainyard_rehearsal.publication import sample_jobs, synced
from trainyard_rehearsal.tasks import Origin

_ACTIVE, _DRAINING = "active", "draining"


@dataclass(frozen=True, slots=True)
class UpgradeTree:
    """A cluster's tree before, during or after its upgrade.

    Args:
        what: the tree, for messages.
        folder: its files, as the committed folder of the cluster has them.
        manifests: objects that Argo CD applies.
        generated: objects of the profiles, samples too.
    """

    what: str
    site: Site
    folder: Path
    manifests: Sequence[Manifest]
    generated: Sequence[Manifest]

    def samples(self, team: str) -> list[tuple[Sample, Manifest]]:
        """Return the sample jobs of active teams, or of one of them, with their objects."""
        return sample_jobs(self.site, self.generated, team)


@dataclass(frozen=True, slots=True)
class Way:
    """The upgrade of one cluster.

    Args:
        change: the plan.
        objects: what the plan says of objects that differ.
        old: tree of the commit.
        drained: the same with the cluster drained; None where the plan drains nothing.
        merged: the new tree, still drained where the plan drains.
        opened: the new tree.
    """

    change: ReleaseChange
    objects: tuple[ObjectChange, ...]
    old: UpgradeTree
    drained: UpgradeTree | None
    merged: UpgradeTree
    opened: UpgradeTree


def take_base(source: Origin, ref: str, folder: Path) -> Side:
    """Return profiles and tree of a commit.

    Args:
        source: profiles and tree, in a Git work tree.
        ref: names the commit.
        folder: where the profiles are copied to; it does not exist.

    Raises:
        TreeError: there is no such commit, or it can't be read.
        ToolError: Git is missing or broken.
    """
    return take_side(find_places(source.root, source.target), ref, folder)


def read_way(source: Origin, base: Side, change: ReleaseChange, planned: Diff, folder: Path) -> Way:
    """Return the upgrade of a cluster, with the files of each tree in a folder.

    Args:
        source: the profiles after the upgrade, and their tree.
        base: the commit before it.
        change: the plan.
        planned: what the change does.
        folder: temporary; it does not exist.

    Raises:
        TreeError: the commit's tree or profiles can't be used.
    """
    folder.mkdir()
    name = change.cluster
    edits = _Edits(source, name, folder)
    old = _committed(edits, base)
    drained, state = None, _ACTIVE
    if change.drains:
        drained, state = edits.tree("drained", base.profiles, base.tree, _DRAINING), _DRAINING
    opened = edits.tree("opened", source.root, source.tree, _ACTIVE)
    merged = opened
    if state != _ACTIVE:
        merged = edits.tree("merged", source.root, source.tree, state)
    clusters = planned.impact.clusters if planned.impact else ()
    objects = chain.from_iterable(each.objects for each in clusters if each.name == name)
    synced = (each for each in objects if each.scope != "artifact")
    return Way(change, tuple(synced), old, drained, merged, opened)


@dataclass(frozen=True, slots=True)
class _Edits:
    """Copies of profiles in which only the state of one cluster differs."""

    source: Origin
    cluster: str
    folder: Path

    def tree(self, what: str, profiles: Path, tree: Tree, state: str) -> UpgradeTree:
        """Return the tree of profiles with another state of the cluster.

        Raises:
            TreeError: the profiles have errors then.
        """
        copied = self.folder / f"{what}-profiles"
        shutil.copytree(profiles, copied, symlinks=True)
        source = load(copied)[0].clusters[self.cluster]
        stated = "state" in source.value
        if state != _ACTIVE:
            source = with_value(source, ("state",), state)
        elif stated:
            source = without(source, ("state",))
        (copied / "clusters" / f"{self.cluster}.yaml").write_bytes(source.content)
        site, manifests, files = self.generated(copied, tree)
        place = self.folder / what
        _write(place, files)
        return UpgradeTree(f"the {what} tree", site, place, synced(site, manifests), manifests)

    def generated(
        self, profiles: Path, tree: Tree
    ) -> tuple[Site, Sequence[Manifest], dict[str, bytes]]:
        """Return the cluster of profiles, its objects and its files.

        Args:
            profiles: their folder.
            tree: that they replace.

        Raises:
            TreeError: the profiles have errors.
        """
        source = self.source
        made = generate(profiles, source.components_root, (self.cluster,), source.today, tree)
        platform = made.checked.platform
        errors = [each for each in made.diagnostics if each.severity is Severity.ERROR]
        if errors or platform is None:
            words = "; ".join(f"{each.rule}: {each.message}" for each in errors)
            raise TreeError(f"profiles of {self.cluster} have errors on the way: {words}")
        site = next(each for each in platform.sites if each.name == self.cluster)
        return site, made.manifests[self.cluster], dict(files_of(self.cluster, made.files))


def _committed(edits: _Edits, base: Side) -> UpgradeTree:
    """Return the tree of a commit: its bytes, and the site and samples of its profiles.

    Raises:
        TreeError: it has no tree of the cluster, or the cluster is stopped there.
    """
    name, tree = edits.cluster, base.tree
    lock = tree.lock(name)
    if lock is None:
        raise TreeError(f"commit {base.commit.short} has no tree of {name}")
    state = load(base.profiles)[0].clusters[name].value.get("state", _ACTIVE)
    if state != _ACTIVE:
        raise TreeError(
            f"{name} is {state} in commit {base.commit.short}: name the commit before that"
        )
    site, manifests, _ = edits.generated(base.profiles, tree)
    place = edits.folder / "old"
    found = tree.read(f"{name}/{path}" for path in lock.files)
    _write(place, {path.removeprefix(f"{name}/"): content for path, content in found})
    objects = [*chain.from_iterable(tree.objects(name, sorted(lock.files)).values())]
    what = f"the tree of {base.commit.short}"
    return UpgradeTree(what, site, place, synced(site, objects), manifests)


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
