"""Turn profiles into a checked tree in memory; the command decides what happens to its bytes.

    read -> check shape -> resolve -> check meaning -> render -> check against the release's schemas
    -> emit

A profile with an error of reading or shape is left out, and the others are still checked: the
findings of reading, shape, names and meaning are reported together. Nothing is rendered while there
is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.emission import emit_site, given_numbers, tombstones
from trainyard.generation.objects import check_tree, check_unlisted
from trainyard.generation.waivers import apply_waivers
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform
from trainyard.profiles.discover import FOLDERS
from trainyard.profiles.read import load
from trainyard.render.site import render_site
from trainyard.resolve.platform import resolve
from trainyard.rules.check import check_meaning
from trainyard.schema.check import check_profiles
from trainyard.schema.defaults import filled
from trainyard.tree.disk import DiskTree
from trainyard.tree.tree import Tree
from trainyard.yaml_io.source import NOTHING, Profiles, Source

_FOLDERS = frozenset(f"profiles/{kind}" for kind in FOLDERS)
"""When one of these can't be listed, every name of its kind would seem to have no target."""

Progress = Callable[[int, int], None]
"""Takes how many parts of a long work are done, and how many there are."""


def unwatched(_: int, __: int) -> None:
    """Show no progress."""


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
    """

    profiles: Profiles
    platform: Platform | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Generation:
    """A generated tree, in memory.

    Args:
        files: content by path below overlays/, the lockfiles included.
        manifests: objects and samples of each site, by cluster; of a retired one none.
    """

    checked: Checked
    diagnostics: tuple[Diagnostic, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    manifests: Mapping[str, tuple[Manifest, ...]] = field(default_factory=dict)


def check(root: Path, today: str = "", known: Checked | None = None) -> Checked:
    """Read the profiles below a folder and check everything that needs no rendering.

    Args:
        root: the profiles.
        today: ISO date that waivers and runtimes' ends are measured against; without one none has
            ended.
        known: other profiles that were checked; what they share is read and checked once.

    Raises:
        TreeError: a file can't be read.
    """
    same = _faultless(known) if known else NOTHING
    return check_loaded(*load(root, same), today, same)


def _faultless(checked: Checked) -> dict[str, Source]:
    """Return the files about which nothing was found."""
    found = {each.at.file for each in checked.diagnostics}
    sources = checked.profiles.sources().items()
    return {file: source for file, source in sources if file not in found}


def check_loaded(
    profiles: Profiles,
    diagnostics: tuple[Diagnostic, ...],
    today: str = "",
    known: Mapping[str, Source] = NOTHING,
) -> Checked:
    """Check profiles that were read.

    Args:
        profiles: as `load` returns them, or as they would be after an edit.
        diagnostics: what reading them found.
        today: as `check` takes it.
        known: sources by file of which nothing is wrong.
    """
    diagnostics += tuple(check_profiles(profiles, known))
    broken = {each.at.file for each in diagnostics if has_errors([each])}
    if not broken.isdisjoint(_FOLDERS):
        return Checked(profiles, None, diagnostics)
    usable = profiles.without(broken)
    platform, unresolved = resolve(filled(usable))
    diagnostics += unresolved
    complete = not has_errors(diagnostics)
    found = (*diagnostics, *check_meaning(platform, today))
    if usable.waivers.value is None:
        # A warning may be waived in the file that can't be read.
        found = tuple(each for each in found if has_errors([each]))
    reported = tuple(apply_waivers(found, usable.waivers, today, complete=complete))
    return Checked(profiles, platform if complete else None, reported)


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
    progress: Progress = unwatched,
) -> Generation:
    """Return the tree of checked profiles; an empty one when they have errors.

    Args:
        checked: the profiles.
        components_root: as `generate` takes it.
        clusters: as `generate` takes them.
        tree: as `generate` takes it.
        progress: counts the clusters.

    Raises:
        TreeError: a lockfile can't be read.
        ToolError: a schema of the release is missing.
    """
    if checked.platform is None or has_errors(checked.diagnostics):
        return Generation(checked, checked.diagnostics)
    wanted = frozenset(clusters) or checked.platform.clusters
    sites = [site for site in checked.platform.sites if site.name in wanted]
    retired = sorted(wanted.intersection(checked.platform.retired))
    manifests: dict[str, tuple[Manifest, ...]] = dict.fromkeys(retired, ())
    found: list[Diagnostic] = []
    files = dict(tombstones(retired, tree))
    for number, site in enumerate(sites):
        progress(number, len(sites))
        manifests[site.name] = render_site(site, components_root)
        found += check_tree(site, manifests[site.name])
        given = given_numbers(checked.platform, site, tree)
        emitted = emit_site(site, manifests[site.name], components_root, given)
        files |= {f"{site.name}/{path}": content for path, content in emitted.items()}
    found += check_unlisted(checked.platform)
    # An object of a component is the same on each cluster and for each team: report it once.
    diagnostics = (*checked.diagnostics, *dict.fromkeys(found))
    return Generation(checked, diagnostics, files, manifests)
