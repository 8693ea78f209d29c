"""Compare what profiles make with the tree of a commit, and find what the change does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from trainyard.change.clusters import clusters_of, touched, upgrade_of
from trainyard.change.history.check import check_replaced
from trainyard.change.impact.compare import compare
from trainyard.change.impact.model import Impact
from trainyard.change.impact.objects import number_deleted, number_synced
from trainyard.change.meanwhile import with_objects
from trainyard.change.objects import Sides
from trainyard.change.review import Approval, approvals, review
from trainyard.change.sides import BothSides, read_both, with_edits
from trainyard.change.upgrade import ReleaseChange, release_changes
from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.emission import lockfiles_over
from trainyard.generation.generate import Checked, Generation, Target, check, render
from trainyard.generation.objects import check_unlisted
from trainyard.git.objects import Commit
from trainyard.model.platform import Platform
from trainyard.model.renames import renames
from trainyard.model.workload import Dump
from trainyard.proofs import UNKNOWN, Proofs
from trainyard.rules.review import Deletions
from trainyard.tree.freshness import foreign_files, stale_files
from trainyard.tree.memory import check_memory


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
        edited: content of profiles of the head that shall have another one, by path below them.
    """

    base: str
    head: str
    merge: bool
    clusters: tuple[str, ...]
    today: str
    dumps: Mapping[str, Dump] = field(default_factory=dict)
    edited: Mapping[str, bytes] = field(default_factory=dict)


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
        releases: the way of each cluster that gets another release, also of a head with errors.
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
    releases: tuple[ReleaseChange, ...] = ()
    stale: int = 0


def diff(place: Target, wanted: Wanted, proofs: Proofs = UNKNOWN) -> Diff:
    """Compare profiles with the tree of a commit.

    Args:
        place: the profiles and the tree, in a Git work tree.
        wanted: the change.
        proofs: of earlier commands.

    Raises:
        TreeError: a commit is not there, or something in it can't be read.
        ToolError: Git or a schema is missing or broken.
    """
    with TemporaryDirectory(prefix="trainyard-") as folder:
        both = read_both(place, wanted.base, wanted.head, Path(folder), merge=wanted.merge)
        both = with_edits(both, wanted.edited, Path(folder) / "edited")
        return _diff(place, wanted, both, proofs)


def _diff(place: Target, wanted: Wanted, both: BothSides, proofs: Proofs) -> Diff:
    """Compare both sides, whose files are in a temporary folder."""
    base, head = both.base, both.head
    today = wanted.today or base.commit.date
    after = check(head.profiles, today, proofs=proofs)
    before = check(base.profiles, today, after, proofs)
    generation = _rendered(both, before, after, place, wanted)
    impact, stale = None, 0
    releases = tuple(release_changes(before.platform, after.platform, wanted.clusters))
    found = (*head.conflicts, *generation.diagnostics)
    if not has_errors(found):
        sides = tuple(clusters_of(base.tree, before.platform, generation, wanted.clusters))
        compared = {side.name: side for side in sides}
        found += tuple(check_replaced(base.tree, generation, wanted.clusters, compared))
        upgrade = upgrade_of(base.tree, base.profiles, sides, place.components_root)
        impact = compare(sides, upgrade, wanted.dumps)
        releases = tuple(with_objects(each, compared[each.cluster]) for each in releases)
        found += tuple(review(before, after, dict(_deletions(sides, impact)), today))
        own = generation
        if wanted.merge and both.behind:
            own = _rendered(both, before, check(head.own, today, after), place, wanted)
        stale, wrong = _check_head_tree(both, own, wanted.clusters, place.target)
        found += wrong
    found += head.submodules
    new = tuple(_new(found, before.diagnostics, _renamed_files(before.platform, after.platform)))
    return Diff(
        base.commit,
        head.named,
        head.commit,
        frozenset((*before.profiles.clusters, *after.profiles.clusters)),
        both.behind and not wanted.merge,
        generation,
        new,
        len(found) - len(new),
        impact,
        approvals(base.tree, before, generation),
        releases,
        stale,
    )


def _rendered(
    both: BothSides, before: Checked, after: Checked, place: Target, wanted: Wanted
) -> Generation:
    """Return the new tree of the clusters that the change may touch; an empty one after errors."""
    unlisted: tuple[Diagnostic, ...] = ()
    if after.platform is not None:
        names = touched(before.platform, after.platform, both.base.tree, both.head.tree)
        chosen = frozenset(names).intersection(wanted.clusters or after.platform.clusters)
        if chosen:
            return render(after, place.components_root, sorted(chosen), both.base.tree)
        unlisted = tuple(check_unlisted(after.platform))
    return Generation(after, (*after.diagnostics, *unlisted))


def _deletions(sides: Iterable[Sides], impact: Impact) -> Iterator[tuple[str, Deletions]]:
    """Yield what each cluster of the base loses."""
    deleted = {cluster.name: number_deleted(cluster.objects) for cluster in impact.clusters}
    for side in sides:
        yield side.name, Deletions(deleted.get(side.name, 0), number_synced(side.before.values()))


def _check_head_tree(
    both: BothSides, own: Generation, wanted: Collection[str], target: Path
) -> tuple[int, tuple[Diagnostic, ...]]:
    """Return how many files of the head's tree its profiles do not make, and the findings.

    In the work tree, files that `generate` will write or delete are not reported, and the others
    are not counted.

    Args:
        both: sides of the change.
        own: generation of the head's own profiles.
        wanted: names of the only clusters wanted; all when empty.
        target: the tree, as the command names it.

    Raises:
        TreeError: a lockfile of the base, or a file of the tree, can't be read.
    """
    base, head = both.base, both.head
    platform = own.checked.platform
    if platform is None or has_errors(own.diagnostics):
        return 0, tuple(found for found in own.diagnostics if has_errors([found]))
    names = platform.clusters
    compared = names.intersection(wanted or names)
    found = tuple(check_memory(head.remembered.locks(), head.tree, compared, base.commit))
    known = names.union(base.tree.locks(), head.tree.folders() if wanted else ())
    written = {**own.files}
    written |= lockfiles_over(head.tree, platform, own.files, own.manifests.keys())
    comparison = head.tree.compare(written, known - own.manifests.keys())
    found += tuple(foreign_files(target, comparison, own.files))
    if head.named is None:
        return comparison.stale, found
    return comparison.count + len(head.submodules), (*found, *stale_files(comparison))


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
