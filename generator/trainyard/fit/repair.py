"""The smallest change of a job after which it would start, found by judging the changed job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import combinations
from typing import Any

from trainyard.fit.case import Case, Ground
from trainyard.fit.merge import merged
from trainyard.fit.objects import field, mapped
from trainyard.fit.refusals import grant_of
from trainyard.fit.verdict import Link, Standing, Verdict
from trainyard.fit.walk import Judged, judge
from trainyard.model.space import Grant, Space

Body = dict[str, Any]

_QUEUE = "kueue.x-k8s.io/queue-name"
_SIZE = frozenset({Link.QUOTA, Link.NODES, Link.TOPOLOGY})
_OPTIONAL = (
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
    """

    display: str
    patch: Body


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
    if verdict.standing is Standing.NEVER and case.space is not None:
        changes = [*_fewer_nodes(ground, job, case, _has_room), *_changes(case, case.space)]
        found = _smallest(ground, job, changes)
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


def _changed(job: Body, changes: Sequence[Change]) -> Body:
    for each in changes:
        job = merged(job, each.patch)
    return job


def _fewer_nodes(
    ground: Ground, job: Body, case: Case, is_enough: Callable[[Verdict], bool]
) -> list[Change]:
    """Return the most nodes with which the queue and the nodes have room; none when none help.

    The admission policies are not asked: what they permit is a range of nodes.
    """
    grant = grant_of(case, case.space) if case.space else None
    wanted = field(case.body, "spec", "trainer", "numNodes")
    if grant is None or not isinstance(wanted, int):
        return []
    smallest = grant.launch.runtime.launcher.smallest_job
    unjudged = replace(ground, judge=None)
    queued = _changed(job, list(_of_grant(case, grant)))

    def fits(nodes: int) -> bool:
        (found,) = judge(unjudged, [merged(queued, _nodes(nodes).patch)])
        return is_enough(found.verdict)

    most = _largest(smallest, min(grant.nodes, max(wanted - 1, smallest)), fits)
    return [_nodes(most)] if most and most != wanted else []


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


def _changes(case: Case, space: Space) -> Iterator[Change]:
    """Yield single changes, those that keep most of the job first."""
    grant = grant_of(case, space)
    if grant is None:
        yield from _other_runtime(case, space)
    else:
        yield from _of_grant(case, grant)
    yield from _priority(space)
    if case.namespace != space.namespace:
        yield Change(f"set metadata.namespace to {space.namespace}", {})
    for path in _OPTIONAL:
        if field(case.body, *path) is not None:
            patch: Any = None
            for step in reversed(path):
                patch = {step: patch}
            yield Change(f"remove {'.'.join(path)}", patch)


def _of_grant(case: Case, grant: Grant) -> Iterator[Change]:
    queue, longest = grant.launch.hardware.node_class, grant.launch.longest_job_name
    if mapped(case.body, "metadata", "labels").get(_QUEUE) != queue:
        yield Change(
            f"set the label {_QUEUE} to {queue}", {"metadata": {"labels": {_QUEUE: queue}}}
        )
    if len(case.name) > longest:
        name = case.name[:longest].rstrip("-")
        yield Change(f"shorten metadata.name to {longest} characters", {"metadata": {"name": name}})


def _other_runtime(case: Case, space: Space) -> Iterator[Change]:
    """Yield the permitted runtime whose name is nearest."""
    named = str(field(case.body, "spec", "runtimeRef", "name"))
    known = [launch.name for launch in space.launches]
    for name in get_close_matches(named, known, n=1, cutoff=0.0):
        grant = next(each for each in space.grants if each.launch.name == name)
        reference = {"name": name, "kind": "ClusterTrainingRuntime"}
        labels = {_QUEUE: grant.launch.hardware.node_class}
        patch = {"spec": {"runtimeRef": reference}, "metadata": {"labels": labels}}
        yield Change(f"set spec.runtimeRef.name to {name}", patch)


def _priority(space: Space) -> Iterator[Change]:
    for lowest in space.priorities[:1]:
        shown = ", ".join(f"{key}: {value}" for key, value in lowest.labels.items())
        yield Change(f"set the labels {shown}", {"metadata": {"labels": dict(lowest.labels)}})
