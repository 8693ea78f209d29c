"""Turn profiles into a checked tree in memory; the command decides what happens to its bytes.

    read -> check shape -> resolve -> check meaning -> render -> check against the release's schemas
    -> emit

A profile with an error of reading or shape is left out, and the others are still checked: the
findings of reading, shape, names and meaning are reported together. Nothing is rendered while there
is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.emission import tombstones
from trainyard.generation.making import (
    Job,
    LateManifests,
    MadeSite,
    check_all,
    files_of_all,
    jobs_of,
    make_all,
    manifests_of,
    proofs_of,
    recalled,
    unproven,
)
from trainyard.generation.meaning import found_in
from trainyard.generation.objects import check_unlisted
from trainyard.generation.waivers import apply_waivers
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform
from trainyard.profiles.discover import FOLDERS
from trainyard.profiles.read import load
from trainyard.proofs import UNKNOWN, Proofs, proof
from trainyard.resolve.platform import resolve
from trainyard.schema.check import check_profiles
from trainyard.schema.defaults import filled
from trainyard.tree.disk import DiskTree
from trainyard.tree.tree import Tree
from trainyard.yaml_io.choices import open_choices
from trainyard.yaml_io.source import NOTHING, Profiles, Source

_FOLDERS = frozenset(f"profiles/{kind}" for kind in FOLDERS)
"""When one of these can't be listed, every name of its kind would seem to have no target."""

Progress = Callable[[int, int], None]
"""Takes how many parts of a long work are done, and how many there are."""


def unwatched(_: int, __: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class Run:
    """How a command runs; what it makes does not depend on it.

    Args:
        progress: counts the clusters.
        proofs: of earlier commands.
    """

    progress: Progress = unwatched
    proofs: Proofs = UNKNOWN


ALONE = Run()
"""Nobody watches, and nothing is known."""


@dataclass(frozen=True, slots=True)
class Target:
    """The folders that a command works on.

    Args:
        root: the profiles.
        target: the committed tree; it may not exist.
        components_root: path of the hand-written components relative to the tree.
    """

    root: Path
    target: Path
    components_root: str

    @property
    def tree(self) -> DiskTree:
        """The committed tree."""
        return DiskTree(self.target)


@dataclass(frozen=True, slots=True)
class Checked:
    """Profiles that were read and checked.

    Args:
        platform: None when it would lack something, since a profile can't be used or a name has no
            target.
        resolved: what is known of it then, if anything; it must not be rendered.
        waived: how many findings are not among the diagnostics, since somebody accepts them.
    """

    profiles: Profiles
    platform: Platform | None
    diagnostics: tuple[Diagnostic, ...]
    waived: int = 0
    resolved: Platform | None = None


@dataclass(frozen=True, slots=True)
class Generation:
    """A generated tree, in memory.

    Args:
        files: content by path below overlays/, the lockfiles included.
        manifests: objects and samples of each site, by cluster; of a retired one none.
        same: clusters whose folder in the committed tree has the same bytes, as far as it is known
            without a comparison.
    """

    checked: Checked
    diagnostics: tuple[Diagnostic, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    manifests: Mapping[str, tuple[Manifest, ...]] = field(default_factory=dict)
    same: frozenset[str] = frozenset()


def check(
    root: Path, today: str = "", known: Checked | None = None, proofs: Proofs = UNKNOWN
) -> Checked:
    """Read the profiles below a folder and check everything that needs no rendering.

    Args:
        root: the profiles.
        today: ISO date that waivers and runtimes' ends are measured against; without one none has
            ended.
        known: other profiles that were checked; what they share is read and checked once.
        proofs: of earlier commands.

    Raises:
        TreeError: a file can't be read.
    """
    same = _faultless(known) if known else NOTHING
    profiles, found = load(root, same)
    sources = profiles.sources()
    proven = {file: source for file, source in sources.items() if _well_formed(source) in proofs}
    checked = check_loaded(profiles, found, today, {**same, **proven}, proofs)
    proofs.keep(map(_well_formed, _faultless(checked).values()))
    return checked


def _well_formed(source: Source) -> str:
    """Return the proof that a profile fits its schema."""
    return proof(b"well-formed", source.file.encode(), source.content)


def _faultless(checked: Checked) -> dict[str, Source]:
    """Return the files about which nothing was found."""
    found = {finding.at.file for finding in checked.diagnostics}
    sources = checked.profiles.sources().items()
    return {file: source for file, source in sources if file not in found}


def check_loaded(
    profiles: Profiles,
    diagnostics: tuple[Diagnostic, ...],
    today: str = "",
    known: Mapping[str, Source] = NOTHING,
    proofs: Proofs = UNKNOWN,
) -> Checked:
    """Check profiles that were read.

    Args:
        profiles: as `load` returns them, or as they would be after an edit.
        diagnostics: what reading them found.
        today: as `check` takes it.
        known: sources by file of which nothing is wrong.
        proofs: as `check` takes them.
    """
    diagnostics += tuple(check_profiles(profiles, known))
    chosen = tuple(open_choices(profiles.sources().values()))
    broken = {finding.at.file for finding in diagnostics if has_errors([finding])}
    if not broken.isdisjoint(_FOLDERS):
        return Checked(profiles, None, (*diagnostics, *chosen))
    usable = profiles.without(broken)
    platform, unresolved = resolve(filled(usable))
    diagnostics += (*unresolved, *chosen)
    complete = not has_errors(diagnostics)
    found = (*diagnostics, *found_in(platform, usable, today, proofs, complete=complete))
    if usable.waivers.value is None:
        # A warning may be waived in the file that can't be read.
        found = tuple(finding for finding in found if has_errors([finding]))
    reported, waived = apply_waivers(found, usable.waivers, today, complete=complete)
    return Checked(profiles, platform if complete else None, reported, waived, platform)


def generate(
    root: Path,
    components_root: str,
    clusters: Iterable[str] = (),
    today: str = "",
    tree: Tree | None = None,
) -> Generation:
    """Return the tree of the profiles below a folder.

    Args:
        root: the profiles.
        components_root: path of the hand-written components relative to the tree, e.g.
            ``../profiles/components``.
        clusters: names of the only ones wanted; all when empty.
        today: as `check` takes it; it never changes the tree.
        tree: the committed one that this one replaces: its lockfiles remember the numbers ever
            given. None for a tree that replaces nothing.

    Raises:
        TreeError: a file can't be read.
        ToolError: a schema of the release is missing.
    """
    return render(check(root, today), components_root, clusters, tree)


def render(
    checked: Checked,
    components_root: str,
    clusters: Iterable[str] = (),
    tree: Tree | None = None,
    run: Run = ALONE,
) -> Generation:
    """Return the tree of checked profiles; an empty one when they have errors.

    Args:
        checked: the profiles.
        components_root: as `generate` takes it.
        clusters: as `generate` takes them.
        tree: as `generate` takes it.
        run: who watches, and what earlier commands proved.

    Raises:
        TreeError: a lockfile can't be read.
        ToolError: a schema of the release is missing.
    """
    if checked.platform is None or has_errors(checked.diagnostics):
        return Generation(checked, checked.diagnostics)
    wanted = frozenset(clusters) or checked.platform.clusters
    retired = sorted(wanted.intersection(checked.platform.retired))
    jobs = jobs_of(checked.platform, components_root, wanted, tree, run.proofs)
    known = recalled(run.proofs, jobs, tree)
    made = _made([job for job in jobs if job.site.name not in known], run)
    sites = {**known, **{name: site.files for name, site in made.items()}}
    makers = {job.site.name: manifests_of(job, made) for job in jobs}
    return Generation(
        checked,
        (*checked.diagnostics, *_found(made.values(), checked.platform)),
        {**files_of_all(sites), **dict(tombstones(retired, tree))},
        LateManifests({**makers, **dict.fromkeys(retired, tuple)}),
        frozenset(known),
    )


def check_objects(checked: Checked, components_root: str, run: Run = ALONE) -> Generation:
    """Check the objects that checked profiles make; the generation that is returned has no tree.

    Args:
        checked: the profiles.
        components_root: as `generate` takes it.
        run: as `render` takes it.

    Raises:
        ToolError: a schema of the release is missing.
    """
    if checked.platform is None or has_errors(checked.diagnostics):
        return Generation(checked, checked.diagnostics)
    every = jobs_of(checked.platform, components_root, checked.platform.clusters, None, run.proofs)
    jobs = unproven(run.proofs, every)
    sites = check_all(jobs, run.progress)
    run.proofs.keep(proofs_of(jobs, sites))
    return Generation(checked, (*checked.diagnostics, *_found(sites, checked.platform)))


def _made(jobs: Sequence[Job], run: Run) -> dict[str, MadeSite]:
    """Make the trees of some clusters, and remember what was made; by name."""
    sites = make_all(jobs, run.progress)
    run.proofs.keep(proofs_of(jobs, sites))
    return {job.site.name: site for job, site in zip(jobs, sites, strict=True)}


def _found(sites: Iterable[MadeSite], platform: Platform) -> Iterator[Diagnostic]:
    """Yield what was found in objects, and in those of components that no team lists.

    An object of a component is the same on each cluster and for each team: it is reported once.
    """
    found = chain.from_iterable(site.found for site in sites)
    return iter(dict.fromkeys((*found, *check_unlisted(platform))))
