"""Read back and count the committed files of a cluster, which are what is generated."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trainyard.diagnostics import Diagnostic, TreeError
from trainyard.generation.generate import Generation
from trainyard.generation.objects import component_manifests
from trainyard.model.manifest import UNLISTED, Manifest, unit_of
from trainyard.model.platform import Site
from trainyard.render.unit import units
from trainyard.rules.delivery.objects_lost import RULE as OBJECTS_LOST
from trainyard.tree.disk import DiskTree
from trainyard.tree.tree import files_of
from trainyard.verify.kubeconform import Report
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


@dataclass(frozen=True, slots=True)
class Count:
    """Numbers of what was verified of one cluster.

    Args:
        objects: listed by kustomizations, those of hand-written components included.
        valid: of them, against the release's strict schemas, read back from the tree.
        built: objects in what kustomize builds.
        conform: of them, valid in kubeconform.
        skipped: objects that kubeconform passed over.
        units, units_built: sync units there, and those that build.
        samples: jobs to copy; checked, never synced.
        artifacts: files that Argo CD does not apply, of a kind with a schema; checked too.
        others: all other files: kustomizations, lockfile, README, fragments.
        by_unit: objects of each sync unit.
        left_out: sync units that a commit has already, so that they are not verified again.
        files_left_out: samples and artifacts that the commit has already.
    """

    cluster: str
    objects: int
    valid: int
    built: int
    conform: int
    skipped: int
    units: int
    units_built: int
    samples: int
    artifacts: int
    others: int
    by_unit: dict[str, int]
    left_out: tuple[str, ...] = ()
    files_left_out: int = 0


def count_objects(
    committed: Committed, valid: Sequence[str], built: Mapping[str, int], report: Report
) -> Count:
    """Return the numbers of what was verified.

    Args:
        committed: the files.
        valid: path of each object that fits the release's schemas.
        built: how many objects kustomize built of each unit that it builds.
        report: of kubeconform.
    """
    unlisted = committed.unlisted.keys()
    by_unit = {unit: committed.listed(unit) for unit in committed.units}
    rejected = {finding.stream for finding in report.rejected}
    return Count(
        cluster=committed.site.name,
        objects=sum(by_unit.values()),
        valid=sum(path not in unlisted for path in valid),
        built=sum(built.values()),
        conform=report.valid - len(unlisted - rejected),
        skipped=report.skipped,
        units=len(by_unit),
        units_built=len(built),
        samples=committed.samples,
        artifacts=len(unlisted) - committed.samples,
        others=len(committed.texts) - len(committed.manifests),
        by_unit=by_unit,
    )


def check_count(site: Site, count: Count) -> Iterator[Diagnostic]:
    """Yield a finding when the numbers of a cluster differ: some object was not looked at."""
    if count.skipped or len({count.objects, count.valid, count.built, count.conform}) > 1:
        message = (
            f"the kustomizations list {count.objects} objects, kustomize builds {count.built}; "
            f"{count.valid} are valid against the schemas, {count.conform} in kubeconform, which "
            f"skipped {count.skipped}"
        )
        yield OBJECTS_LOST.at(site.cluster.at, message)
