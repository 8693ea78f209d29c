"""Compare what lockfiles remember with what those of a commit remember."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Note, Pointer
from trainyard.git.objects import Commit
from trainyard.git.repository import Repository, find_commit, merge_base
from trainyard.git.worktree import work_tree
from trainyard.model.holding import Holding
from trainyard.model.ids import Ids
from trainyard.model.quantity import counted
from trainyard.rules.change.number_forgotten import RULE as NUMBER_FORGOTTEN
from trainyard.tree.commit import tree_of
from trainyard.tree.disk import DiskTree
from trainyard.tree.lockfile import LOCKFILE, Lock
from trainyard.tree.tree import Tree

_SHOWN = 10
"""How many numbers one finding lists."""


def check_memory_since(tree: DiskTree, ref: str, clusters: Collection[str]) -> Iterator[Diagnostic]:
    """Yield the clusters whose lockfile lost a number since a commit.

    The newest commit that HEAD shares with it is what counts: numbers that were given there since
    then come with the merge. A clone that is too shallow has only the commit itself.

    Args:
        tree: in a Git work tree.
        ref: branch, tag or id of the commit; empty for none.
        clusters: as `check_memory` takes them.

    Raises:
        TreeError: there is no such commit, or a lockfile of it is broken.
        ToolError: Git is missing or broken.
    """
    found = work_tree(tree.folder)
    if not ref or found is None:
        return
    repository = Repository(found[0])
    fork = fork_of(repository, find_commit(repository, ref), find_commit(repository, "HEAD"))
    before = tree_of(repository, fork, found[1]).locks()
    yield from check_memory(before, tree, clusters, fork)


def fork_of(repository: Repository, base: Commit, head: Commit) -> Commit:
    """Return the newest commit that two others share; the base when they share none."""
    return merge_base(repository, base, head) or base


def check_memory(
    before: Mapping[str, Lock], tree: Tree, clusters: Collection[str], base: Commit
) -> Iterator[Diagnostic]:
    """Yield the clusters whose lockfile lost a number.

    Args:
        before: the locks of the commit that the change began from.
        tree: of the change.
        clusters: names of those that are compared; one without a profile is reported as such.
        base: a commit that remembers the numbers.
    """
    for cluster in sorted(before.keys() & set(clusters)):
        lock = tree.readable_lock(cluster)
        kept = {held.number for held in lock.numbers} if lock else set()
        lost = [held for held in before[cluster].numbers if held.number not in kept]
        if lost:
            yield _forgotten(cluster, lost, base, there=lock is not None)


def _forgotten(
    cluster: str, lost: Collection[Holding | Ids], base: Commit, *, there: bool
) -> Diagnostic:
    at = f"overlays/{cluster}/{LOCKFILE}"
    numbers = counted(len(lost), "number")
    message = f"the lockfile of cluster `{cluster}` no longer has {numbers} that teams were given"
    if not there:
        message = (
            f"the lockfile of cluster `{cluster}` is missing or can't be read, and with it "
            f"{numbers} that teams were given"
        )
    notes = [Note(_described(number)) for number in [*lost][:_SHOWN]]
    if len(lost) > _SHOWN:
        notes.append(Note(f"and {len(lost) - _SHOWN} more"))
    hint = f"Run `git restore --source {base.short} {at}`, then `trainyard generate`."
    return NUMBER_FORGOTTEN.at(Pointer(at), message, notes=notes, hint=hint)


def _described(number: Holding | Ids) -> str:
    if isinstance(number, Ids):
        return f"namespace {number.namespace} was given ids {number.range}, level {number.level}"
    return f"team {number.team} was given {number.display} with {number.addresses}"
