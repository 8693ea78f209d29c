"""The objects and files of each cluster in the committed tree and in the new one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from trainyard.change.impact.model import Sides
from trainyard.generation.generate import Generation
from trainyard.generation.objects import component_manifests
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.renames import renames
from trainyard.tree.lockfile import Lock, digest
from trainyard.tree.tree import Tree, files_of

Objects = dict[Identity, Manifest]
"""Objects of a cluster."""
BothSides = tuple[Mapping[Identity, Manifest], Mapping[Identity, Manifest]]
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
    stay = after.keys() - generation.manifests.keys()
    committed = {name: lock for name, lock in tree.locks().items() if name not in stay}
    for name in sorted({*committed, *generation.manifests}):
        if wanted and name not in wanted:
            continue
        lock = committed.get(name, _NOTHING)
        sides = Sides(
            name,
            before.get(name),
            after.get(name),
            *both_sides(tree, name, generation),
            {old: team.name for old, team in renames(platform.teams, lock.teams).items()},
            _digests(name, lock, generation),
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
    before, after = (by_hand(site) for site in (sides.old, sides.new))
    return replace(sides, before={**sides.before, **before}, after={**sides.after, **after})


def by_hand(site: Site | None) -> Objects:
    """Return the objects of a cluster's hand-written components."""
    return _by_identity(component_manifests(site)) if site else {}


def both_sides(tree: Tree, cluster: str, generation: Generation) -> BothSides:
    """Return the objects of a cluster before and after.

    Equal bytes are equal objects: reading them all back would take as long as the rest of the run.

    Args:
        tree: the committed one.
        cluster: its name; it may be new, or gone from the generation.
        generation: without errors.

    Raises:
        TreeError: a committed file can't be read or compared.
    """
    lock = tree.lock(cluster) or _NOTHING
    same = _same_objects(cluster, lock, generation)
    edited = sorted(lock.files.keys() - same.keys())
    found = dict(tree.objects(cluster, edited)) if edited else {}
    found |= {path: [manifest] for path, manifest in same.items()}
    before = [manifest for path in sorted(found) for manifest in found[path]]
    return _by_identity(before), objects_of(cluster, generation)


def _same_objects(cluster: str, lock: Lock, generation: Generation) -> dict[str, Manifest]:
    """Return the objects whose file stays what the lockfile lists, by its path.

    Files without an object are not among them: reading one finds out that somebody broke it.
    """
    return {
        manifest.path: manifest
        for manifest in generation.manifests.get(cluster, ())
        if (entry := lock.files.get(manifest.path))
        and digest(generation.files[f"{cluster}/{manifest.path}"]) == entry.sha256
    }


def objects_of(cluster: str, generation: Generation) -> Objects:
    """Return the objects of a cluster in a new tree."""
    manifests = generation.manifests.get(cluster, ())
    return _by_identity(sorted(manifests, key=lambda manifest: manifest.path))


def _digests(
    cluster: str, lock: Lock, generation: Generation
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the digest of each file of a cluster by its path, before and after."""
    after = {path: digest(content) for path, content in files_of(cluster, generation.files)}
    return {path: entry.sha256 for path, entry in lock.files.items()}, after


def _by_identity(manifests: Iterable[Manifest]) -> Objects:
    """Return objects by the key that they have in both trees."""
    return {identity(manifest): manifest for manifest in manifests}
