"""Each cluster on both sides of a change: its objects and files, committed and generated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from pathlib import Path
from typing import Any

from trainyard import __version__
from trainyard.change.impact.model import Upgrade
from trainyard.change.objects import FileChange, Objects, Sides
from trainyard.generation.generate import Generation, generate
from trainyard.generation.objects import component_manifests
from trainyard.model.by_hand import owner_of
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.renames import renames
from trainyard.tree.conflict import our_side
from trainyard.tree.lockfile import Lock
from trainyard.tree.tree import Tree, files_of
from trainyard.yaml_io.manifests import parse_manifests

_NOTHING = Lock("", "", {})
"""The lock of a cluster that a tree does not have."""


def touched(old: Platform | None, new: Platform, base: Tree, head: Tree) -> Iterator[str]:
    """Yield the clusters whose tree may differ from the base's, so that no other is rendered.

    A tree follows from its cluster's part of the platform, the numbers in its lockfile and the
    version of Trainyard. A base that nobody generated after its last edit shows in the lockfiles:
    that of the head differs then.

    Args:
        old: None when the base's profiles can't be resolved.
        new: the head's.
        base: the committed tree that the change would replace.
        head: that of the change.

    Raises:
        TreeError: a lockfile of the base is broken or can't be read.
    """
    for site in new.sites:
        same = _is_same(site, old, new) and _is_current(base.lock(site.name))
        if not same or head.differs(site.name, base):
            yield site.name
    for name in new.retired:
        if _has_files(base.lock(name)) or head.differs(name, base):
            yield name


def _is_same(site: Site, old: Platform | None, new: Platform) -> bool:
    """Return whether a cluster's part of two platforms is the same."""
    return old is not None and site in old.sites and _numbers(old, site) == _numbers(new, site)


def _numbers(platform: Platform, site: Site) -> tuple[object, object]:
    """Return what the ledger has given on a cluster, to teams without a profile too."""
    return tuple(platform.holdings(site)), platform.ids.get(site.name, ())


def _has_files(lock: Lock | None) -> bool:
    return lock is not None and bool(lock.files)


def _is_current(lock: Lock | None) -> bool:
    """Return whether this version of Trainyard generated a cluster."""
    return lock is not None and lock.tool == __version__


def clusters_of(
    tree: Tree, old: Platform | None, generation: Generation, wanted: Collection[str]
) -> Iterator[Sides]:
    """Yield each cluster that was rendered again, or is gone, before and after.

    Args:
        tree: the committed one.
        old: what it was made from; None when that can't be resolved.
        generation: without errors.
        wanted: names of the only clusters wanted; all when empty.

    Raises:
        TreeError: a committed file can't be read or compared.
    """
    platform = generation.checked.platform
    assert platform is not None
    rendered = generation.manifests.keys()
    unrendered = {site.name for site in platform.sites} - rendered
    names = {*tree.clusters(), *rendered} - unrendered
    for name in sorted(names.intersection(wanted or names)):
        yield both_sides(tree, old, generation, name)


def both_sides(tree: Tree, old: Platform | None, generation: Generation, cluster: str) -> Sides:
    """Return a cluster before and after.

    Args:
        tree: as `clusters_of` takes it.
        old: as `clusters_of` takes it.
        generation: as `clusters_of` takes it.
        cluster: its name; it may be new, or gone from the generation.

    Raises:
        TreeError: a committed file can't be read or compared.
    """
    platform = generation.checked.platform
    assert platform is not None
    lock = tree.lock(cluster) or _NOTHING
    files = dict(files_of(cluster, generation.files))
    same = _same_files(tree, cluster, files)
    was, now = _site(old, cluster), _site(platform, cluster)
    after = objects_of(cluster, generation)
    unchanged = lock.files.keys() & same
    known = [manifest for manifest in after.values() if manifest.path in unchanged]
    before = _committed(tree, cluster, lock, known)
    # No file has the objects of hand-written components; of an unknown base none is compared.
    if was is not None or not before:
        before |= by_hand(was)
        after |= by_hand(now)
    renamed = {former: team.name for former, team in renames(platform.teams, lock.teams).items()}
    reworded = _reworded(tree, cluster, files, (lock.files.keys() & files.keys()) - same)
    changes = _file_changes(lock.files.keys() - same - reworded, files.keys() - same - reworded)
    return Sides(cluster, was, now, before, after, renamed, changes)


def _site(platform: Platform | None, cluster: str) -> Site | None:
    sites = platform.sites if platform else ()
    return next((site for site in sites if site.name == cluster), None)


def _same_files(tree: Tree, cluster: str, files: Mapping[str, bytes]) -> frozenset[str]:
    """Return the paths below a cluster's folder at which the tree has what is generated."""
    held = tree.holding({f"{cluster}/{path}": content for path, content in files.items()})
    return frozenset(path.removeprefix(f"{cluster}/") for path in held)


def _reworded(
    tree: Tree, cluster: str, files: Mapping[str, bytes], paths: AbstractSet[str]
) -> set[str]:
    """Return those of the paths whose comments alone differ: who installed the file need not again.

    Files that Argo CD applies are not looked at.
    """
    installed = {f"{cluster}/{path}": path for path in paths if owner_of(path)}
    return {
        installed[full]
        for full, content in tree.read(installed)
        if _meaning(full, content) == _meaning(full, files[installed[full]])
    }


def _meaning(path: str, content: bytes) -> list[Any]:
    """Return what a file says without its comments."""
    content = our_side(content)
    if path.endswith(".yaml"):
        return parse_manifests(content.decode())
    # Somebody may have written other bytes than text into such a file.
    return [line for line in content.splitlines() if not line.startswith(b"#")]


def _committed(
    tree: Tree, cluster: str, lock: Lock, known: Iterable[Manifest]
) -> dict[Identity, Manifest]:
    """Return the committed objects of a cluster.

    Args:
        tree: that has them.
        cluster: its name.
        lock: the cluster's.
        known: objects of files that hold what is generated. Equal bytes are equal objects: reading
            them all back would take as long as the rest of the run.
    """
    files = {manifest.path: [manifest] for manifest in known}
    # Files without an object are read too: that finds out that somebody broke one.
    if edited := sorted(lock.files.keys() - files.keys()):
        files |= tree.objects(cluster, edited)
    return _by_identity(chain.from_iterable(files[path] for path in sorted(files)))


def _file_changes(before: AbstractSet[str], after: AbstractSet[str]) -> dict[str, FileChange]:
    """Return what becomes of each file that differs, by its path below the cluster's folder."""
    changes: dict[str, FileChange] = dict.fromkeys(before & after, "changed")
    changes |= dict.fromkeys(after - before, "created")
    return changes | dict.fromkeys(before - after, "deleted")


def objects_of(cluster: str, generation: Generation) -> dict[Identity, Manifest]:
    """Return the objects of a cluster in a new tree."""
    manifests = generation.manifests.get(cluster, ())
    return _by_identity(sorted(manifests, key=lambda manifest: manifest.path))


def by_hand(site: Site | None) -> dict[Identity, Manifest]:
    """Return the objects of a cluster's hand-written components."""
    return _by_identity(component_manifests(site)) if site else {}


def _by_identity(manifests: Iterable[Manifest]) -> dict[Identity, Manifest]:
    """Return objects by the key that they have in both trees."""
    return {identity(manifest): manifest for manifest in manifests}


def upgrade_of(
    tree: Tree, profiles: Path, sides: Iterable[Sides], components_root: str
) -> Upgrade | None:
    """Return the objects that differ though no profile has changed them; None for an equal version.

    The base's profiles are generated with this version: what then equals the head's object, and
    not the committed one, no profile has changed.

    Args:
        tree: the base's.
        profiles: folder of those of the base.
        sides: each cluster on both sides.
        components_root: as `generate` takes it.
    """
    committed = tree.locks()
    older = sorted({lock.tool for lock in committed.values()} - {__version__})
    kept = {side.name: side for side in sides if side.name in committed and side.new}
    if not (older and kept):
        return None
    again = generate(profiles, components_root, tuple(kept), tree=tree)
    objects = {}
    for name in again.manifests:
        unedited = {**objects_of(name, again), **by_hand(kept[name].old)}
        objects[name] = frozenset(_moved(kept[name], unedited))
    return Upgrade(", ".join(older), __version__, objects)


def _moved(sides: Sides, unedited: Objects) -> Iterator[Identity]:
    """Yield the objects of a cluster that differ from the committed ones without an edit."""
    for key in {*sides.before, *sides.after}:
        old, new = _body(sides.before, key), _body(sides.after, key)
        if old != new and _body(unedited, key) == new:
            yield key


def _body(objects: Objects, key: Identity) -> dict[str, Any] | None:
    manifest = objects.get(key)
    return manifest.body if manifest else None
