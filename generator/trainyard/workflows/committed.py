"""Read back the committed files of a cluster, which were found to be what is generated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from trainyard.diagnostics import TreeError
from trainyard.generation.generate import Generation
from trainyard.generation.objects import component_manifests
from trainyard.model.manifest import UNLISTED, Manifest, unit_of
from trainyard.model.platform import Site
from trainyard.render.unit import units
from trainyard.tree.disk import DiskTree
from trainyard.tree.tree import files_of
from trainyard.yaml_io.manifests import parse_manifests


@dataclass(frozen=True, slots=True)
class Committed:
    """The committed files of a cluster.

    Args:
        texts: each generated file, by path below the cluster's folder.
        manifests: the generated objects, as the files have them.
        components: objects of hand-written components, which the teams' units include.
    """

    site: Site
    texts: dict[str, str]
    manifests: tuple[Manifest, ...]
    components: tuple[Manifest, ...]

    @property
    def objects(self) -> tuple[Manifest, ...]:
        """Every object, those of hand-written components included."""
        return (*self.manifests, *self.components)

    @property
    def units(self) -> tuple[str, ...]:
        """Its sync units."""
        return tuple(units(self.manifests))

    @property
    def unlisted(self) -> dict[str, str]:
        """Text of each object that no kustomization lists, by path."""
        unlisted = [manifest.path for manifest in self.manifests if manifest.unit in UNLISTED]
        return {path: self.texts[path] for path in unlisted}

    @property
    def samples(self) -> int:
        """Number of jobs to copy."""
        return sum(manifest.unit == "samples" for manifest in self.manifests)

    def without(self, left_out: Collection[str]) -> Committed:
        """Return the files without some units, and without some files that are in no unit.

        Args:
            left_out: units, and paths of files.
        """
        left_out = frozenset(left_out)

        def kept(manifest: Manifest) -> bool:
            return left_out.isdisjoint((manifest.unit, manifest.path))

        dropped = {manifest.path for manifest in self.manifests if not kept(manifest)}
        return Committed(
            self.site,
            {path: text for path, text in self.texts.items() if path not in dropped},
            tuple(filter(kept, self.manifests)),
            tuple(filter(kept, self.components)),
        )

    def listed(self, unit: str) -> int:
        """Return how many objects a sync unit has: those that it lists, and its components'."""
        (kustomization,) = parse_manifests(self.texts[f"{unit}/kustomization.yaml"])
        added = sum(manifest.unit == unit for manifest in self.components)
        return len(kustomization["resources"]) + added


def read_committed(
    site: Site, tree: DiskTree, generation: Generation, known: Collection[str] = ()
) -> Committed:
    """Return the committed files of a cluster.

    Args:
        site: the cluster.
        tree: on disk.
        generation: that the tree was compared with a moment ago.
        known: folders whose objects were verified before: they are not read back.

    Raises:
        TreeError: a file can't be read, or was changed since.
    """
    files = dict(files_of(site.name, generation.files))
    wanted = {path: files[path] for path in files if unit_of(path) not in known}
    _require_unchanged(site, tree, wanted)
    texts = {path: content.decode() for path, content in files.items()}
    by_hand = filter(lambda manifest: manifest.unit not in known, component_manifests(site))
    return Committed(site, texts, _objects(site, generation, wanted, texts), tuple(by_hand))


def _require_unchanged(site: Site, tree: DiskTree, files: Mapping[str, bytes]) -> None:
    """Read some files of a cluster once more.

    Raises:
        TreeError: one was changed.
    """
    paths = {f"{site.name}/{path}": content for path, content in files.items()}
    for path in sorted(paths.keys() - tree.holding(paths)):
        raise TreeError(f"{tree.place(path)} was changed while it was verified; verify again")


def _objects(
    site: Site, generation: Generation, wanted: Mapping[str, bytes], texts: dict[str, str]
) -> tuple[Manifest, ...]:
    """Return the objects in some files; where these are at the top, no manifest is asked for."""
    if not any("/" in path for path in wanted):
        return ()
    manifests = generation.manifests[site.name]
    return tuple(_read_back(texts, made) for made in manifests if made.path in wanted)


def _read_back(texts: dict[str, str], manifest: Manifest) -> Manifest:
    (body,) = parse_manifests(texts[manifest.path])
    return replace(manifest, body=body)
