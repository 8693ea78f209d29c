"""The way of a cluster from one release to another: the steps, and what users must know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from trainyard.change.releases import Change, Comparison, Fault, compare, faults_of
from trainyard.model.cluster import Cluster
from trainyard.model.differences import few
from trainyard.model.identity import Identity
from trainyard.model.named import by_name
from trainyard.model.platform import Platform, Site
from trainyard.model.release import Release, Threshold
from trainyard.model.tenant import Tenant
from trainyard.model.version import numbers

_TREE = ""
"""The part of a way that is this repository's: the merge."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is upgraded at once: all that one operator brings, or the tree.

    Args:
        by: who brings it; empty for the tree.
        versions: that change; none of the tree.
        alone: what is known to fail if this part goes alone, and so has to go with others.
        one_way: why there is no way back, each with its component.
        impossible: why it can't be done where it runs, each with its component: it is the way back
            of an upgrade that has none.
    """

    by: str
    versions: tuple[Change, ...]
    alone: tuple[Fault, ...] = ()
    one_way: tuple[str, ...] = ()
    impossible: tuple[str, ...] = ()

    @property
    def is_tree(self) -> bool:
        """Whether it is the merge."""
        return self.by == _TREE

    @property
    def display(self) -> str:
        """What its owner does, in words."""
        if self.is_tree:
            return "merge this change"
        return f"{self.by}: {', '.join(change.display for change in self.versions)}"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A field that servers drop, or refuse, while operators and tree are of two releases.

    Args:
        fault: the field, in words.
        objects: that have it, sorted.
    """

    fault: str
    objects: tuple[Identity, ...]


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """The way of a cluster from one release to another.

    Args:
        cluster: its name.
        before, after: releases.
        replaced: components that somebody else brings then, sorted: no upgrade in place does that.
        steps: what is upgraded one after the other; parts of one step go at once.
        teams: that have queues on the cluster, sorted.
        jobs_lose, jobs_gain: fields of a TrainJob. While one loses some, no job may be left.
        stuck: why no job of MPI may be left; none where no team has such a runtime.
        sdk: for jobs, if it differs.
        changes: component and version -> what it changed.
        dropped: while operators and tree are of two releases.
    """

    cluster: str
    before: str
    after: str
    replaced: tuple[str, ...]
    steps: tuple[tuple[Part, ...], ...]
    teams: tuple[str, ...]
    jobs_lose: tuple[str, ...]
    jobs_gain: tuple[str, ...]
    stuck: tuple[str, ...]
    sdk: Change | None
    changes: Mapping[str, str]
    dropped: tuple[Dropped, ...] = ()

    @property
    def drains(self) -> bool:
        """Whether no job may be left on the way: it would lose fields, or be stuck."""
        return bool((self.jobs_lose or self.stuck) and self.teams and not self.replaced)

    @property
    def impossible(self) -> tuple[str, ...]:
        """Why this is not an upgrade in place; empty where it is one."""
        others = [f"other operators bring {few(self.replaced)}"] if self.replaced else []
        parts = (part for step in self.steps for part in step)
        return (*others, *(reason for part in parts for reason in part.impossible))


def release_changes(
    before: Platform | None, after: Platform | None, wanted: Collection[str]
) -> Iterator[ReleaseChange]:
    """Yield the way of each cluster that gets another release; it may have errors.

    Args:
        before: None if it can't be resolved.
        after: likewise.
        wanted: names of the only clusters wanted; all when empty.

    Raises:
        ToolError: a schema is missing or was changed.
    """
    if before is None or after is None:
        return
    old = by_name(before.sites)
    for site in after.sites:
        was = old.get(site.name)
        if was and site.name in (wanted or old) and _releases_differ(was, site):
            yield _release_change(was, site)


def _releases_differ(old: Site, new: Site) -> bool:
    return old.cluster.release.identity != new.cluster.release.identity


def _release_change(old: Site, new: Site) -> ReleaseChange:
    before, after = old.cluster.release, new.cluster.release
    found = compare(before, after)
    return ReleaseChange(
        old.name,
        before.identity,
        after.identity,
        tuple(_replaced(before.brought_by, after.brought_by)),
        tuple(_steps(old.cluster, new.cluster)),
        tuple(sorted(tenant.name for tenant in old.tenants)),
        tuple(_of_jobs(found, "lost")),
        tuple(_of_jobs(found, "gained")),
        tuple(_stuck(old.cluster, new.cluster) if any(map(_has_mpi, old.tenants)) else ()),
        next((each for each in found.fields if each.name == "SDK"), None),
        found.changes,
    )


def _replaced(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield the components that another operator brings after the change."""
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            yield name


def _of_jobs(found: Comparison, what: str) -> Iterator[str]:
    """Yield the fields of a TrainJob that are gained or lost."""
    for kind in found.kinds:
        if kind.name.startswith("TrainJob in "):
            yield from getattr(kind, what)


def _stuck(old: Cluster, new: Cluster) -> Iterator[str]:
    """Yield why jobs of MPI of before neither start nor stop with the new versions."""
    changes = _changed(old.versions, new.versions)
    yield from (row.why for row in _passed(new.release, "stuck-mpi-jobs", changes))


def _has_mpi(tenant: Tenant) -> bool:
    launches = (launch for space in tenant.spaces for launch in space.launches)
    return any(launch.runtime.launcher.mpi for launch in launches)


def _steps(old: Cluster, new: Cluster) -> Iterator[tuple[Part, ...]]:
    """Yield what goes at once: as little as does not fail, in the order of the components.

    Newer servers know the fields of an older tree, so the tree goes last. If versions fall, it is
    the other way round.
    """
    parts = _parts(old, new)
    names = [*parts, _TREE]
    if all(map(_falls, _changed(old.versions, new.versions))):
        names.reverse()
    done: frozenset[str] = frozenset()
    while names:
        some = _next(old, new, parts, done, names)
        together = len(some) > 1
        yield tuple(
            Part(
                name,
                parts.get(name, ()),
                _faults(old, new, parts, done | {name}) if together else (),
                tuple(_one_way(new.release, parts.get(name, ()))),
                tuple(_impossible(new.release, parts.get(name, ()))),
            )
            for name in some
        )
        done = done.union(some)
        names = [name for name in names if name not in done]


def _next(
    old: Cluster,
    new: Cluster,
    parts: Mapping[str, tuple[Change, ...]],
    done: frozenset[str],
    names: Sequence[str],
) -> tuple[str, ...]:
    """Return the fewest parts after which nothing fails; all of them if there is no such step."""
    for count in range(1, len(names)):
        for some in combinations(names, count):
            if not _faults(old, new, parts, done.union(some)):
                return some
    return tuple(names)


def _parts(old: Cluster, new: Cluster) -> dict[str, tuple[Change, ...]]:
    """Return the versions that change by who brings them, in the order of the components."""
    found: dict[str, list[Change]] = defaultdict(list)
    brought = {**old.release.brought_by, **new.release.brought_by}
    for change in _changed(old.versions, new.versions):
        found[brought.get(change.name, change.name)].append(change)
    return {by: tuple(changes) for by, changes in found.items()}


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in {**after, **before}:
        if before.get(name) != after.get(name):
            yield Change(name, before.get(name), after.get(name))


def _falls(change: Change) -> bool:
    """Return whether a version falls, or nobody needs the component any more."""
    return change.after is None or numbers(change.after) < numbers(change.before or "")


def _faults(
    old: Cluster, new: Cluster, parts: Mapping[str, tuple[Change, ...]], done: frozenset[str]
) -> tuple[Fault, ...]:
    """Return what is known to fail when some parts are upgraded, and did not fail before."""
    versions = dict(old.versions)
    for name in done - {_TREE}:
        for change in parts[name]:
            versions.pop(change.name, None)
            versions |= {change.name: change.after} if change.after else {}
    release = new.release if _TREE in done else old.release
    known = {fault.consequence for fault in faults_of(old.release, old.versions)}
    found = faults_of(release, versions)
    return tuple(fault for fault in found if fault.consequence not in known)


def _one_way(release: Release, changes: Iterable[Change]) -> Iterator[str]:
    for row in _passed(release, "one-way", changes):
        yield f"{row.component}: {row.why}"


def _passed(release: Release, means: str, changes: Iterable[Change]) -> Iterator[Threshold]:
    """Yield the thresholds of a kind that some changes pass."""
    for change in changes:
        for row in release.thresholds:
            before, after = change.before, change.after
            if row.means == means and row.component == change.name and before and after:
                yield from [row] if row.applies(before, after) else ()


def _impossible(release: Release, changes: Iterable[Change]) -> Iterator[str]:
    """Yield why versions can't fall: the other way there would be no way back."""
    return _one_way(release, (Change(each.name, each.after, each.before) for each in changes))
