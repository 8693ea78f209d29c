"""The objects and files of each cluster in the committed tree and in the new one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from trainyard.change.impact.duties import FileChange
from trainyard.change.impact.model import Sides
from trainyard.change.objects import Objects
from trainyard.generation.generate import Generation
from trainyard.generation.objects import component_manifests
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.renames import renames
from trainyard.tree.lockfile import Lock
from trainyard.tree.tree import Tree, files_of

BothSides = tuple[Objects, Objects]
"""Objects of a cluster before and after."""

_NOTHING = Lock("", "", {})
"""The lock of a cluster that a tree does not have."""


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
    before, after = _sites(old), _sites(platform)
    committed = tree.locks()
    unrendered = after.keys() - generation.manifests.keys()
    names = {*committed, *generation.manifests} - unrendered
    for name in sorted(names.intersection(wanted or names)):
        lock = committed.get(name, _NOTHING)
        renamed = renames(platform.teams, lock.teams)
        same = _same_files(tree, name, generation)
        sides = Sides(
            name,
            before.get(name),
            after.get(name),
            *_both_sides(tree, name, generation, same),
            {former: team.name for former, team in renamed.items()},
            _file_changes(tree, name, generation, same),
        )
        yield _with_components(sides)


def _sites(platform: Platform | None) -> dict[str, Site]:
    return {site.name: site for site in platform.sites} if platform else {}


def _with_components(sides: Sides) -> Sides:
    """Add the objects of hand-written components, which no file of the tree has.

    Of a base that can't be resolved none is known, so none is compared.
    """
    if sides.old is None and sides.before:
        return sides
    before = {**sides.before, **by_hand(sides.old)}
    return replace(sides, before=before, after={**sides.after, **by_hand(sides.new)})


def by_hand(site: Site | None) -> dict[Identity, Manifest]:
    """Return the objects of a cluster's hand-written components."""
    return _by_identity(component_manifests(site)) if site else {}


def both_sides(tree: Tree, cluster: str, generation: Generation) -> BothSides:
    """Return the objects of a cluster before and after.

    Args:
        tree: the committed one.
        cluster: its name; it may be new, or gone from the generation.
        generation: without errors.

    Raises:
        TreeError: a committed file can't be read or compared.
    """
    return _both_sides(tree, cluster, generation, _same_files(tree, cluster, generation))


def _both_sides(
    tree: Tree, cluster: str, generation: Generation, same: Collection[str]
) -> BothSides:
    """Return the objects of a cluster before and after.

    Equal bytes are equal objects: reading them all back would take as long as the rest of the run.
    """
    listed = (tree.lock(cluster) or _NOTHING).files
    manifests = generation.manifests.get(cluster, ())
    # Files without an object are read too: that finds out that somebody broke one.
    unchanged = listed.keys() & same
    files = {each.path: [each] for each in manifests if each.path in unchanged}
    if edited := sorted(listed.keys() - files.keys()):
        files |= tree.objects(cluster, edited)
    before = chain.from_iterable(files[path] for path in sorted(files))
    return _by_identity(before), objects_of(cluster, generation)


def _same_files(tree: Tree, cluster: str, generation: Generation) -> frozenset[str]:
    """Return the paths below a cluster's folder at which the tree has what is generated."""
    prefix = f"{cluster}/"
    generated = files_of(cluster, generation.files)
    held = tree.holding({prefix + path: content for path, content in generated})
    return frozenset(path.removeprefix(prefix) for path in held)


def objects_of(cluster: str, generation: Generation) -> dict[Identity, Manifest]:
    """Return the objects of a cluster in a new tree."""
    manifests = generation.manifests.get(cluster, ())
    return _by_identity(sorted(manifests, key=lambda manifest: manifest.path))


def _file_changes(
    tree: Tree, cluster: str, generation: Generation, same: Collection[str]
) -> dict[str, FileChange]:
    """Return what becomes of each generated file that differs, by its path below the folder."""
    before = (tree.lock(cluster) or _NOTHING).files.keys()
    after = dict(files_of(cluster, generation.files)).keys()
    changes: dict[str, FileChange] = dict.fromkeys(before & after, "changed")
    changes |= dict.fromkeys(after - before, "created")
    changes |= dict.fromkeys(before - after, "deleted")
    return {path: change for path, change in changes.items() if path not in same}


def _by_identity(manifests: Iterable[Manifest]) -> dict[Identity, Manifest]:
    """Return objects by the key that they have in both trees."""
    return {identity(manifest): manifest for manifest in manifests}
