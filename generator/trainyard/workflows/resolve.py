"""Solve what two changes of the ledger have in conflict: the later one gets other numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

from trainyard.change.sides import Places, find_places
from trainyard.diagnostics import Diagnostic, TreeError, has_errors
from trainyard.generation.generate import Checked, Target, check_loaded
from trainyard.git.objects import Commit
from trainyard.git.repository import Repository, find_commit, list_folder, merge_base, read_files
from trainyard.model.holding import Holding
from trainyard.model.ids import UIDS, Ids
from trainyard.model.lookup import mapping, text
from trainyard.model.platform import Platform
from trainyard.profiles.read import load
from trainyard.scaffold.allocation import AllocationRequest, plan_allocation
from trainyard.scaffold.install import put
from trainyard.scaffold.numbers import new_ids, with_numbers
from trainyard.scaffold.plan import ALLOCATIONS
from trainyard.scaffold.team_name import Remembered
from trainyard.tree.commit import tree_of
from trainyard.tree.lockfile import LOCKFILE, Lock, lock_bytes
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Profiles, Source

_LEDGER = f"profiles/{ALLOCATIONS}"

_Loaded = tuple[Profiles, tuple[Diagnostic, ...]]
_Line = tuple[str, str, str]
"""Cluster, fabric and team of a line of the ledger; of user ids, ``uids`` and the namespace."""
_Given = tuple[bytes, tuple[Holding | Ids, ...], tuple[Diagnostic, ...]]
"""The ledger, its new numbers, and why there are none."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The ledger of both sides.

    Args:
        profiles: with that ledger.
        diagnostics: the reasons why nothing was written.
        given: new numbers of teams that the other side added; none where Git merged the ledger.
    """

    profiles: Profiles
    diagnostics: tuple[Diagnostic, ...] = ()
    given: tuple[Holding | Ids, ...] = ()


def resolve(place: Target, today: str) -> Resolution:
    """Write the ledger of both sides, and let the lockfiles remember the numbers of one only.

    A ledger that Git merged, with no number twice, stays as it is.
    The branch that others work on keeps its numbers. They may be in use, those of a change are not.

    Args:
        place: the profiles and the tree, in a work tree where Git merges.
        today: ISO date that is written beside new numbers.

    Raises:
        TreeError: Git merges nothing, or a file can't be read or written.
        ToolError: Git is missing or broken.
    """
    places = find_places(place.root, place.target)
    profiles, found = load(place.root)
    loaded = profiles, tuple(each for each in found if each.at.file != _LEDGER)
    if has_errors(loaded[1]):
        return Resolution(*loaded)
    sides = _sides(places.repository, profiles)
    if not _is_wrong(profiles, found, today):
        return Resolution(profiles)
    locks = tree_of(places.repository, sides[0], places.tree).locks()
    resolution = _resolved(places, loaded, sides, locks, today)
    if not resolution.diagnostics:
        content = resolution.profiles.allocations.content
        put(place.root, {ALLOCATIONS: content}, (), ALLOCATIONS)
        _remember(place, locks)
    return resolution


def _is_wrong(profiles: Profiles, found: tuple[Diagnostic, ...], today: str) -> bool:
    """Return whether the ledger, as Git left it, has a conflict or a number twice."""
    errors = (
        each for each in check_loaded(profiles, found, today).diagnostics if has_errors([each])
    )
    return any(each.at.file == _LEDGER for each in errors)


def _resolved(
    places: Places,
    loaded: _Loaded,
    sides: tuple[Commit, Commit],
    locks: Mapping[str, Lock],
    today: str,
) -> Resolution:
    """Return the ledger of the side that is kept, with new numbers for what the other added."""
    remembered = {cluster: lock.numbers for cluster, lock in locks.items()}
    checked = _with_ledger(loaded, _ledger(places, sides[0]).content, today)
    given: list[Holding | Ids] = []
    for line in _added(places, *sides):
        if checked.platform is None:
            break
        give = _give_ids if line[1] == UIDS else _give
        content, numbers, problems = give(checked, checked.platform, line, remembered, today)
        if problems:
            return Resolution(checked.profiles, problems)
        given += numbers
        checked = _with_ledger(loaded, content, today)
    found = checked.diagnostics if checked.platform is None else ()
    return Resolution(checked.profiles, found, tuple(given))


def _sides(repository: Repository, profiles: Profiles) -> tuple[Commit, Commit]:
    """Return the commit whose numbers stay, and the other one.

    Raises:
        TreeError: Git merges nothing.
    """
    head = find_commit(repository, "HEAD")
    with suppress(TreeError):
        merged = find_commit(repository, "MERGE_HEAD")
        branch = repository.read("rev-parse", "--abbrev-ref", "HEAD").decode().strip()
        shared = text(profiles.settings.value, "branch")
        return (head, merged) if branch == shared else (merged, head)
    for name in ("REBASE_HEAD", "CHERRY_PICK_HEAD"):
        with suppress(TreeError):
            return head, find_commit(repository, name)
    raise TreeError(
        f"Git merges nothing in {repository.root}: begin with the merge, e.g. `git merge "
        "origin/main`"
    )


def _ledger(places: Places, commit: Commit) -> Source:
    """Return the ledger of a commit; an empty one if it has none."""
    listing = list_folder(places.repository, commit, places.profiles)
    wanted = {path: blob for path, blob in listing.files.items() if path == ALLOCATIONS}
    content = dict(read_files(places.repository, wanted)).get(ALLOCATIONS, b"{}\n")
    return read(_LEDGER, content)[0]


def _with_ledger(loaded: _Loaded, content: bytes, today: str) -> Checked:
    """Return the profiles as they are with another ledger."""
    profiles, found = loaded
    source, problems = read(_LEDGER, content)
    return check_loaded(replace(profiles, allocations=source), found + problems, today)


def _added(places: Places, kept: Commit, other: Commit) -> Iterator[_Line]:
    """Yield cluster, fabric and team of the lines that one side added and the other lacks.

    User ids have a namespace in the place of a team; teams' numbers come first.
    """
    fork = merge_base(places.repository, kept, other)
    lines = [set(_lines(_ledger(places, each))) for each in (other, kept, fork) if each]
    added = lines[0].difference(*lines[1:])
    yield from sorted(added, key=lambda line: (line[1] == UIDS, line))


def _lines(ledger: Source) -> Iterator[_Line]:
    for cluster, kinds in mapping(ledger.value).items():
        for kind, entries in mapping(kinds).items():
            for name in mapping(entries):
                yield cluster, kind, name


def _give(
    checked: Checked, platform: Platform, line: _Line, remembered: Remembered, today: str
) -> _Given:
    """Return the ledger with new numbers of a team, or why there are none."""
    cluster, fabric, team = line
    request = AllocationRequest(team, cluster, fabric, today)
    plan, problems = plan_allocation(checked.profiles, platform, request, remembered)
    if plan is None:
        return b"", (), problems
    return plan.files[ALLOCATIONS], plan.numbers, ()


def _give_ids(
    checked: Checked, platform: Platform, line: _Line, remembered: Remembered, today: str
) -> _Given:
    """Return the ledger with new user ids of a namespace, unless it has some by now."""
    cluster, _, namespace = line
    (site,) = (each for each in platform.sites if each.name == cluster)
    former = [*chain.from_iterable(remembered.values())]
    ids = new_ids(platform, site.cluster, namespace, today, former)
    ledger = checked.profiles.allocations.content
    if ids is None:
        return ledger, (), ()
    return with_numbers(ledger, cluster, None, ids)[ALLOCATIONS], (ids,), ()


def _remember(place: Target, locks: Mapping[str, Lock]) -> None:
    """Let each lockfile remember the numbers of the side that keeps them, and no others."""
    for cluster, kept in locks.items():
        if lock := place.tree.lock(cluster):
            content = lock_bytes(replace(lock, holdings=kept.holdings, ids=kept.ids))
            put(place.target / cluster, {LOCKFILE: content}, (), LOCKFILE)
