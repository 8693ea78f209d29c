"""Compare what profiles make with the tree of a commit, and find what the change does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from trainyard.change.approval import Approval, approvals
from trainyard.change.clusters import clusters_of
from trainyard.change.head import Head, check_head_tree, find_head, is_behind, merged
from trainyard.change.history.trees import check_replaced
from trainyard.change.impact.compare import compare
from trainyard.change.impact.model import Impact, Sides
from trainyard.change.impact.objects import number_deleted, number_synced
from trainyard.change.review import review
from trainyard.change.side import Side, find_places, take_side
from trainyard.change.touched import touched
from trainyard.change.upgrade import upgrade_of
from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import Checked, Generation, Target, check, render
from trainyard.generation.objects import check_unlisted
from trainyard.git.commits import Commit
from trainyard.model.platform import Platform
from trainyard.model.renames import renames
from trainyard.model.workload import Dump
from trainyard.rules.review import Deletions


@dataclass(frozen=True, slots=True)
class Wanted:
    """The change to look at.

    Args:
        base: names the commit that the change would replace.
        head: names the commit with the change; empty for the files in the work tree.
        merge: look at what merging both gives, not at the head as it is.
        clusters: names of the only ones wanted; all when empty.
        today: as `check` takes it; empty for the date of the base.
        dumps: jobs by cluster, of those whose jobs are known.
    """

    base: str
    head: str
    merge: bool
    clusters: tuple[str, ...]
    today: str
    dumps: Mapping[str, Dump] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Diff:
    """A change and what it does.

    Args:
        head: None for the work tree.
        tip: the head, or the commit that the work tree was checked out from.
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
    tip: Commit
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
    base = take_side(places, wanted.base, folder / "base")
    head = find_head(places, place, wanted.head, base, folder / "head")
    behind = is_behind(places, base.commit, head.commit)
    if wanted.merge:
        head = merged(places, base, head, folder / "merged")
    today = wanted.today or base.commit.date
    after = check(head.profiles, today)
    before = check(base.profiles, today, after)
    made = _Maker(base, before, head, place.components_root, wanted.clusters)
    generation = made.tree_of(after)
    impact, stale = None, 0
    found = (*head.conflicts, *generation.diagnostics)
    if not has_errors(found):
        impact, lost, wrong = _impact(made, generation, wanted.dumps)
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
        head.commit,
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

    base: Side
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
        names = touched(self.before.platform, after.platform, self.base.tree, self.head.tree)
        return tuple(sorted(name for name in names if not self.clusters or name in self.clusters))


def _impact(
    made: _Maker, generation: Generation, dumps: Mapping[str, Dump]
) -> tuple[Impact, Mapping[str, Deletions], tuple[Diagnostic, ...]]:
    """Return what the change does, what each cluster loses, and what breaks there."""
    base, wanted = made.base, made.clusters
    sides = tuple(clusters_of(base.tree, made.before.platform, generation, wanted))
    objects = {side.name: (side.before, side.after) for side in sides}
    found = tuple(check_replaced(base.tree, generation, wanted, objects))
    upgrade = upgrade_of(base.tree, base.profiles, sides, made.components_root)
    impact = compare(sides, upgrade, dumps)
    return impact, dict(_deletions(sides, impact)), found


def _new(
    found: Iterable[Diagnostic], before: Iterable[Diagnostic], moved: Mapping[str, str]
) -> Iterator[Diagnostic]:
    """Yield the findings without the warnings that the base has too, wherever their lines are."""
    known = set()
    for rule, file, text in (diagnostic.fact for diagnostic in before):
        known.add((rule, moved.get(file, file), text))
    for diagnostic in found:
        if has_errors([diagnostic]) or diagnostic.fact not in known:
            yield diagnostic


def _renamed_files(before: Platform | None, after: Platform | None) -> dict[str, str]:
    """Return the new profile of each team that is renamed, by the old one."""
    files = {team.name: team.at.file for team in before.teams} if before else {}
    teams = after.teams if after else ()
    return {files[old]: team.at.file for old, team in renames(teams, files).items()}


def _deletions(sides: Iterable[Sides], impact: Impact) -> Iterator[tuple[str, Deletions]]:
    """Yield what each cluster of the base loses."""
    deleted = {cluster.name: number_deleted(cluster.objects) for cluster in impact.clusters}
    for side in sides:
        yield side.name, Deletions(deleted.get(side.name, 0), number_synced(side.before.values()))
