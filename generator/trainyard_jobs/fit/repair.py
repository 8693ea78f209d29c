"""The smallest change that makes the verdict about a job better, found by judging it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import chain, combinations, islice
from typing import Any

from trainyard.model.lookup import mapping, text, value_at
from trainyard.model.space import Grant, Space
from trainyard_jobs.fit.case import Case, Ground, naming
from trainyard_jobs.fit.form import QUEUE
from trainyard_jobs.fit.grants import RUNTIME, grant_of, home_of
from trainyard_jobs.fit.merge import merged
from trainyard_jobs.fit.removal import Path, at, parts, shown, without
from trainyard_jobs.fit.verdict import Link, Standing, Verdict
from trainyard_jobs.fit.walk import Judged, judge

Body = dict[str, Any]

_SIZE = frozenset({Link.QUOTA, Link.NODES, Link.TOPOLOGY})
_AT_ONCE = 3
"""Parts that are removed together, at most."""
_TRIED = 150
"""Removals that are tried, at most; the evaluator needs about 20 ms for each."""
_DIGITS = 10
_OPTIONAL: tuple[Path, ...] = (
    ("spec", "trainer", "resourcesPerNode"),
    ("spec", "trainer", "numProcPerNode"),
    ("spec", "trainer", "env"),
    ("spec", "trainer", "command"),
    ("spec", "trainer", "args"),
    ("spec", "trainer", "image"),
    ("spec", "podTemplateOverrides"),
    ("spec", "runtimePatches"),
    ("spec", "initializer"),
    ("spec", "managedBy"),
    ("spec", "labels"),
    ("spec", "annotations"),
    ("metadata", "finalizers"),
    ("metadata", "ownerReferences"),
    ("metadata", "annotations"),
)
"""Parts of a job that it starts without, unless its runtime asks for them."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a job.

    Args:
        display: as the user makes it.
        patch: a merge patch of the job.
        gone: paths that it removes.
    """

    display: str
    patch: Body = field(default_factory=dict)
    gone: tuple[Path, ...] = ()


def with_change(ground: Ground, job: Body, judged: Judged) -> Verdict:
    """Return a verdict with the smallest change of the job that makes it better.

    Args:
        ground: the cluster.
        job: as the user wrote it.
        judged: its verdict.

    Raises:
        ToolError: the evaluator fails.
    """
    verdict, case = judged.verdict, judged.case
    if verdict.standing is Standing.WAITS:
        fewer = _fewer_nodes(ground, job, case, _starts)
        return replace(verdict, change=tuple(each.display for each in fewer))
    if verdict.standing is Standing.NEVER:
        changes = [*_fewer_nodes(ground, job, case, _has_room), *_changes(case, job)]
        found = _narrowed(ground, job, _smallest(ground, job, changes))
        return replace(verdict, change=tuple(each.display for each in found))
    return verdict


def _may_start(standing: Standing) -> bool:
    return standing is not Standing.NEVER


def _starts(verdict: Verdict) -> bool:
    return verdict.standing is Standing.ADMITTED


def _has_room(verdict: Verdict) -> bool:
    """Return whether quota and nodes have room for a job, whatever else keeps it from starting."""
    return all(_may_start(each.standing) for each in verdict.checks if each.link in _SIZE)


def _smallest(ground: Ground, job: Body, changes: Sequence[Change]) -> Sequence[Change]:
    """Return the first single change that helps, else two, else what is needed of nearly all.

    A change may also harm: a runtime with steps needs `spec.initializer`.
    """
    for size in (1, 2):
        tried = list(combinations(changes, size))
        helping = _help(ground, job, tried)
        if True in helping:
            return tried[helping.index(True)]
    for left_out in range(min(3, len(changes))):
        most = list(combinations(changes, len(changes) - left_out))
        helping = _help(ground, job, most)
        if True in helping:
            return _needed(ground, job, most[helping.index(True)])
    return ()


def _needed(ground: Ground, job: Body, changes: Sequence[Change]) -> Sequence[Change]:
    """Return changes that help together without those that are not needed."""
    kept = changes
    for each in changes:
        fewer = [other for other in kept if other is not each]
        if all(_help(ground, job, [fewer])):
            kept = fewer
    return kept


def _help(ground: Ground, job: Body, tried: Sequence[Sequence[Change]]) -> list[bool]:
    """Return whether each set of changes lets a job start, now or later."""
    found = judge(ground, [_changed(job, changes) for changes in tried])
    return [_may_start(each.verdict.standing) for each in found]


def _narrowed(ground: Ground, job: Body, changes: Sequence[Change]) -> Sequence[Change]:
    """Return changes that help together, whose removals are as small as possible."""
    found = list(changes)
    for number, each in enumerate(changes):
        smaller = list(_smaller(job, each))
        before, after = found[:number], found[number + 1 :]
        helping = _help(ground, job, [[*before, one, *after] for one in smaller])
        if True in helping:
            found[number] = smaller[helping.index(True)]
    return found


def _smaller(job: Body, change: Change) -> Iterator[Change]:
    """Yield removals of a few of the parts that a change removes, the fewest first."""
    inside = change.gone
    if len(inside) == 1:
        inside = tuple(parts(at(job, inside[0]), inside[0]))
    sizes = range(1, max(1, min(_AT_ONCE, len(inside) - 1)) + 1)
    tried = chain.from_iterable(combinations(inside, size) for size in sizes)
    yield from map(_removal, islice(tried, _TRIED))


def _removal(gone: tuple[Path, ...]) -> Change:
    return Change(f"remove {' and '.join(map(shown, gone))}", gone=gone)


def _changed(job: Body, changes: Sequence[Change]) -> Body:
    """Return a changed job; a label that one change removes and another sets is set."""
    job = without(job, [path for each in changes for path in each.gone])
    for each in changes:
        job = merged(job, each.patch)
    return job


def _fewer_nodes(
    ground: Ground, job: Body, case: Case, is_enough: Callable[[Verdict], bool]
) -> list[Change]:
    """Return the most nodes with which the queue and the nodes have room; none when none help.

    The admission policies are not asked: what they permit is a range of nodes.
    """
    grant = grant_of(case.body, _home(case))
    if grant is None:
        return []
    smallest = grant.launch.runtime.smallest_job
    written = value_at(case.body, "spec.trainer.numNodes")
    wanted = _whole(written, smallest)
    unjudged = replace(ground, judge=None)
    queued = _changed(job, list(_of_grant(case, job, grant)))

    def fits(nodes: int) -> bool:
        (found,) = judge(unjudged, [merged(queued, _nodes(nodes).patch)])
        return is_enough(found.verdict)

    if wanted != written and fits(wanted):
        return [_nodes(wanted)]
    most = _largest(smallest, min(grant.nodes, max(wanted - 1, smallest)), fits)
    return [_nodes(most)] if most and most != written else []


def _whole(written: Any, otherwise: int) -> int:
    """Return a number that may be written as text."""
    is_text = isinstance(written, str) and written.isdecimal() and len(written) < _DIGITS
    return int(written) if is_text or type(written) is int else otherwise


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number that fits, if whatever is smaller fits too; 0 when none does."""
    if high < low or not fits(low):
        return 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _nodes(number: int) -> Change:
    return Change(
        f"set spec.trainer.numNodes to {number}", {"spec": {"trainer": {"numNodes": number}}}
    )


def _home(case: Case) -> Space:
    return home_of(case.body, case.ground.tenant.spaces, case.space)


def _changes(case: Case, job: Body) -> Iterator[Change]:
    """Yield single changes, those that keep most of the job first."""
    space = _home(case)
    if case.namespace != space.namespace:
        patch = {"metadata": {"namespace": space.namespace}}
        yield Change(f"set metadata.namespace to {space.namespace}", patch)
    grant = grant_of(case.body, space)
    if grant is None:
        grant = _nearest(case, space)
        if grant is not None:
            yield _runtime(case, grant)
    if grant is not None:
        yield from _of_grant(case, job, grant)
    yield from _priority(space)
    for path in _OPTIONAL:
        if at(job, path) is not None:
            yield _removal((path,))
    yield from _labels(job, space)


def _labels(job: Body, space: Space) -> Iterator[Change]:
    """Yield the removal of each label of a priority, then of all others."""
    own = tuple(dict.fromkeys(name for each in space.priorities for name in each.labels))
    for path in map(_label, own):
        if at(job, path) is not None:
            yield _removal((path,))
    yield from _other_labels(job, (QUEUE, *own))


def _label(name: str) -> Path:
    return "metadata", "labels", name


def _other_labels(job: Body, kept: Sequence[str]) -> Iterator[Change]:
    """Yield the removal of all other labels: a job may have too many to try each with each."""
    others = tuple(_label(name) for name in mapping(job, "metadata", "labels") if name not in kept)
    if len(others) > _AT_ONCE:
        yield Change(f"remove all labels but {', '.join(kept)}", gone=others)
    elif others:
        yield _removal(others)


def _of_grant(case: Case, job: Body, grant: Grant) -> Iterator[Change]:
    queue, longest = grant.launch.hardware.node_class, grant.launch.longest_job_name
    if text(case.body, "metadata", "labels", QUEUE) not in _queues(case, queue):
        yield Change(f"set the label {QUEUE} to {queue}", {"metadata": {"labels": {QUEUE: queue}}})
    if len(case.name) > longest:
        key, appended = naming(job)
        name = case.name[: longest - appended].rstrip("-")
        display = f"shorten metadata.{key} to {longest - appended} characters"
        yield Change(display, {"metadata": {key: name}})


def _queues(case: Case, node_class: str) -> set[str]:
    """Return the LocalQueues that lead to the queue of a class of node."""
    locals_ = _home(case).local_queues
    return {local.name for local in locals_ if local.queue.node_class == node_class}


def _nearest(case: Case, space: Space) -> Grant | None:
    """Return the permitted runtime whose name is nearest; None when none is permitted."""
    named = str(value_at(case.body, "spec.runtimeRef.name"))
    grants = {each.launch.name: each for each in space.grants}
    return next((grants[name] for name in get_close_matches(named, grants, 1, cutoff=0.0)), None)


def _runtime(case: Case, grant: Grant) -> Change:
    reference = {"name": grant.launch.name, "kind": RUNTIME}
    written = mapping(case.body, "spec", "runtimeRef")
    differing = [key for key, value in reference.items() if written.get(key, value) != value]
    shown_as = " and ".join(f"spec.runtimeRef.{key} to {reference[key]}" for key in differing)
    return Change(f"set {shown_as}", {"spec": {"runtimeRef": reference}})


def _priority(space: Space) -> Iterator[Change]:
    for lowest in space.priorities[:1]:
        labels = ", ".join(f"{key}: {value}" for key, value in lowest.labels.items())
        yield Change(f"set the labels {labels}", {"metadata": {"labels": dict(lowest.labels)}})
