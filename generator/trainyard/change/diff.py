"""Compare what profiles make with the tree of a commit, and find what the change does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trainyard import __version__
from trainyard.change.approval import Approval, approvals
from trainyard.change.head import Head, check_head_tree, find_head, is_behind, merged
from trainyard.change.head_tree import ids_of
from trainyard.change.history.trees import check_replaced, locks
from trainyard.change.impact.compare import compare
from trainyard.change.impact.model import Impact, Sides
from trainyard.change.impact.objects import number_deleted, number_synced
from trainyard.change.impact.upgrade import Upgrade
from trainyard.change.review import review
from trainyard.change.sides import Objects, both_sides, by_identity, digests
from trainyard.change.touched import touched
from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import Checked, Generation, Target, check, generate, render
from trainyard.generation.objects import check_unlisted, component_manifests
from trainyard.git.commits import Commit
from trainyard.model.identity import Identity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.renames import renames
from trainyard.rules.review import Deletions
from trainyard.tree.lockfile import Lock, digest
from trainyard.tree.snapshot import Snapshot, find_places, take_snapshot

_NOTHING = Lock("", "", {})
"""The lock of a cluster that the base does not have."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The change to look at.

    Args:
        base: names the commit that the change would replace.
        head: names the commit with the change; empty for the files in the work tree.
        merge: look at what merging both gives, not at the head as it is.
        clusters: names of the only ones wanted; all when empty.
        today: as `check` takes it; empty for the date of the base.
    """

    base: str
    head: str
    merge: bool
    clusters: tuple[str, ...]
    today: str


@dataclass(frozen=True, slots=True)
class Diff:
    """A change and what it does.

    Args:
        head: None for the work tree.
        clusters: names of those that the base or the head has a profile of.
        behind: the base has commits that the head lacks: what these made looks undone.
        generation: of the head.
        diagnostics: about the head, and about the change.
        known: number of warnings that the base has too; they are left out.
        impact: None when the head's profiles have errors.
        approvals: who approves the files that the change edits.
        stale: number of files of the head's tree that are not what its own profiles make.
    """

    base: Commit
    head: Commit | None
    clusters: frozenset[str]
    behind: bool
    generation: Generation
    diagnostics: tuple[Diagnostic, ...]
    known: int
    impact: Impact | None
    approvals: tuple[Approval, ...]
    stale: int = 0


def diff(place: Target, wanted: Wanted) -> Diff:
    """Compare profiles with the tree of a commit.

    Args:
        place: the profiles and the tree, in a Git work tree.
        wanted: the change.

    Raises:
        TreeError: a commit is not there, or something in it can't be read.
        ToolError: Git or a schema is missing or broken.
    """
    with TemporaryDirectory(prefix="trainyard-") as folder:
        return _diff(place, wanted, Path(folder))


def _diff(place: Target, wanted: Wanted, folder: Path) -> Diff:
    """Compare, with the files of commits in a temporary folder."""
    places = find_places(place.root, place.target)
    base = take_snapshot(places, wanted.base, _made(folder / "base"))
    head = find_head(places, place, wanted.head, base, _made(folder / "head"))
    behind = is_behind(places, base.commit, head.commit)
    if wanted.merge:
        head = merged(places, base, head, _made(folder / "merged"))
    today = wanted.today or base.commit.date
    after = check(head.profiles, today)
    before = check(base.profiles, today, after)
    made = _Maker(base, before, head, place.components_root, wanted.clusters)
    generation = made.tree_of(after)
    impact, stale = None, 0
    found = (*head.conflicts, *generation.diagnostics)
    if not has_errors(found):
        impact, lost, wrong = _impact(made, generation)
        found += (*wrong, *review(before, generation.checked, lost, today))
        merges = wanted.merge and behind
        own = made.tree_of(check(head.own, today, after)) if merges else generation
        stale, wrong = check_head_tree(head, base, own, wanted.clusters, place.target)
        found += wrong
    found += head.submodules
    new = tuple(_new(found, before.diagnostics, _renamed_files(before.platform, after.platform)))
    return Diff(
        base.commit,
        head.named,
        frozenset((*before.profiles.clusters, *after.profiles.clusters)),
        behind and not wanted.merge,
        generation,
        new,
        len(found) - len(new),
        impact,
        approvals(base.tree, before, generation),
        stale,
    )


@dataclass(frozen=True, slots=True)
class _Maker:
    """Both sides, and the clusters that are wanted: all when empty."""

    base: Snapshot
    before: Checked
    head: Head
    components_root: str
    clusters: tuple[str, ...]

    def tree_of(self, after: Checked) -> Generation:
        """Return the new tree of the clusters that the change may touch."""
        if clusters := self._touched(after):
            return render(after, self.components_root, clusters, self.base.tree)
        unlisted = check_unlisted(after.platform) if after.platform else ()
        return Generation(after, (*after.diagnostics, *unlisted))

    def _touched(self, after: Checked) -> tuple[str, ...]:
        """Return the clusters to render; none when the head has errors."""
        if after.platform is None:
            return ()
        tree = self.head.tree
        names = {*touched(self.before.platform, after.platform, self.base.tree, tree.folder)}
        base = ids_of(self.base.listing)
        names |= {name for name in _sites(after.platform) if tree.differs(name, base)}
        return tuple(sorted(name for name in names if not self.clusters or name in self.clusters))


def _impact(
    made: _Maker, generation: Generation
) -> tuple[Impact, Mapping[str, Deletions], tuple[Diagnostic, ...]]:
    """Return what the change does, what each cluster loses, and what breaks there."""
    base, wanted = made.base, made.clusters
    base.copy(_differing(base, generation))
    sides = tuple(_sides(base, made.before.platform, generation, wanted))
    objects = {side.name: (side.before, side.after) for side in sides}
    found = tuple(check_replaced(base.tree, generation, wanted, objects))
    impact = compare(sides, _upgrade(base, sides, made.components_root))
    return impact, dict(_deletions(sides, impact)), found


def _new(
    found: Iterable[Diagnostic], before: Iterable[Diagnostic], moved: Mapping[str, str]
) -> Iterator[Diagnostic]:
    """Yield the findings without the warnings that the base has too, wherever their lines are."""
    known = {(rule, moved.get(file, file), text) for rule, file, text in (d.fact for d in before)}
    return (each for each in found if has_errors([each]) or each.fact not in known)


def _renamed_files(before: Platform | None, after: Platform | None) -> dict[str, str]:
    """Return the new profile of each team that is renamed, by the old one."""
    files = {team.name: team.at.file for team in before.teams} if before else {}
    teams = after.teams if after else ()
    return {files[old]: team.at.file for old, team in renames(teams, files).items()}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _differing(base: Snapshot, generation: Generation) -> Iterator[str]:
    """Yield the files of the base's tree that the new tree lacks or has with other content."""
    for cluster, lock in _changing(base, generation):
        for path, entry in lock.files.items():
            content = generation.files.get(f"{cluster}/{path}")
            if content is None or digest(content) != entry.sha256:
                yield f"{cluster}/{path}"


def _changing(base: Snapshot, generation: Generation) -> Iterator[tuple[str, Lock]]:
    """Yield the base's clusters that were rendered again, or are gone."""
    stay = _sites(generation.checked.platform).keys() - generation.manifests.keys()
    return ((cluster, lock) for cluster, lock in locks(base.tree) if cluster not in stay)


def _sides(
    base: Snapshot, old: Platform | None, generation: Generation, wanted: Collection[str]
) -> Iterator[Sides]:
    """Yield each cluster of the base and of the head."""
    platform = generation.checked.platform
    assert platform is not None
    before, after = _sites(old), _sites(platform)
    committed = dict(_changing(base, generation))
    for name in sorted({*committed, *generation.manifests}):
        if wanted and name not in wanted:
            continue
        lock = committed.get(name, _NOTHING)
        sides = Sides(
            name,
            before.get(name),
            after.get(name),
            *both_sides(base.tree / name, lock, generation),
            {old: team.name for old, team in renames(platform.teams, lock.teams).items()},
            digests(name, lock, generation),
        )
        yield _with_components(sides)


def _with_components(sides: Sides) -> Sides:
    """Add the objects of hand-written components, which no file of the tree has.

    Of a base that can't be resolved none is known, so none is compared.
    """
    if sides.old is None and sides.before:
        return sides
    before, after = (_by_hand(site) for site in (sides.old, sides.new))
    return replace(sides, before={**sides.before, **before}, after={**sides.after, **after})


def _by_hand(site: Site | None) -> Objects:
    return by_identity(component_manifests(site)) if site else {}


def _deletions(sides: Iterable[Sides], impact: Impact) -> Iterator[tuple[str, Deletions]]:
    """Yield what each cluster of the base loses."""
    deleted = {cluster.name: number_deleted(cluster.objects) for cluster in impact.clusters}
    for side in sides:
        yield side.name, Deletions(deleted.get(side.name, 0), number_synced(side.before.values()))


def _sites(platform: Platform | None) -> dict[str, Site]:
    return {site.name: site for site in platform.sites} if platform else {}


def _upgrade(base: Snapshot, sides: Iterable[Sides], components_root: str) -> Upgrade | None:
    """Return the objects that only another version of Trainyard makes differ.

    The base's profiles are generated with this version: what then equals the head's object, and
    not the committed one, no profile has changed.
    """
    committed = dict(locks(base.tree))
    older = sorted({lock.tool for lock in committed.values()} - {__version__})
    kept = {side.name: side for side in sides if side.name in committed and side.new}
    if not (older and kept):
        return None
    again = generate(base.profiles, components_root, tuple(kept), target=base.tree)
    objects = {}
    for name in again.manifests:
        _, generated = both_sides(base.tree / name, committed[name], again)
        unedited = {**generated, **_by_hand(kept[name].old)}
        objects[name] = frozenset(_moved(kept[name], unedited))
    return Upgrade(", ".join(older), __version__, objects)


def _moved(sides: Sides, unedited: Mapping[Identity, Manifest]) -> Iterator[Identity]:
    """Yield the objects of a cluster that differ from the committed ones without an edit."""
    for identity in {*sides.before, *sides.after}:
        sought = (sides.before, unedited, sides.after)
        old, same, new = (_body(each.get(identity)) for each in sought)
        if old != new and same == new:
            yield identity


def _body(manifest: Manifest | None) -> dict[str, Any] | None:
    return manifest.body if manifest else None
