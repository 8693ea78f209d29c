"""A change of a job that makes the verdict about it better, found by judging the job changed.

Only changes are tried that are right whatever the job does: they correct a name, a size or the form
of a value, or remove what the runtime or the API server sets. Nothing is removed that the user may
have meant: the message of the check names it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trainyard.model.lookup import mapping, text, value_at
from trainyard.model.nearest import nearest
from trainyard.model.space import Grant, Space
from trainyard_jobs.fit.case import Case, Ground, naming
from trainyard_jobs.fit.form import QUEUE
from trainyard_jobs.fit.grants import RUNTIME, grant_of, home_of
from trainyard_jobs.fit.merge import merged
from trainyard_jobs.fit.verdict import Link, Standing, Verdict
from trainyard_jobs.fit.walk import Judged, judge

Body = dict[str, Any]

_SIZE = frozenset({Link.QUOTA, Link.NODES, Link.TOPOLOGY})
_DIGITS = 10
_NO_TEXT = (int, float)
_SHOWN = 3
"""Values that are named, at most: a job may have hundreds of labels."""
_SET_BY_OTHERS: tuple[tuple[str, ...], ...] = (
    ("spec", "trainer", "resourcesPerNode"),
    ("spec", "trainer", "numProcPerNode"),
    ("spec", "managedBy"),
    ("metadata", "finalizers"),
    ("metadata", "ownerReferences"),
)
"""Fields that the runtime, Kueue or the API server sets where a job leaves them out."""


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
    """Return a verdict with a change of the job that makes it better.

    Args:
        ground: the cluster.
        job: as the user wrote it.
        judged: its verdict.

    Raises:
        ToolError: the evaluator fails.
    """
    verdict, case = judged.verdict, judged.case
    changes: Sequence[Change] = ()
    if verdict.standing is Standing.WAITS:
        changes = _fewer_nodes(ground, job, case, _starts)
    elif verdict.standing is Standing.NEVER:
        tried = [*_fewer_nodes(ground, job, case, _has_room), *_changes(case, job)]
        changes = _needed(ground, job, tried)
    return replace(verdict, change=tuple(change.display for change in changes))


def _may_start(standing: Standing) -> bool:
    return standing is not Standing.NEVER


def _starts(verdict: Verdict) -> bool:
    return verdict.standing in {Standing.ADMITTED, Standing.IN_PART}


def _has_room(verdict: Verdict) -> bool:
    """Return whether quota and nodes have room for a job, whatever else keeps it from starting."""
    return all(_may_start(check.standing) for check in verdict.checks if check.link in _SIZE)


def _needed(ground: Ground, job: Body, changes: Sequence[Change]) -> Sequence[Change]:
    """Return one change that lets a job start, now or later; else those of all that are needed.

    A job is judged at most twice for each change, and once for all of them together.
    """
    # All are judged at once: the evaluator is started once.
    judged_jobs = judge(ground, [merged(job, change.patch) for change in changes])
    for change, judged in zip(changes, judged_jobs, strict=True):
        if _may_start(judged.verdict.standing):
            return [change]
    return _together(ground, job, changes)


def _together(ground: Ground, job: Body, changes: Sequence[Change]) -> Sequence[Change]:
    """Return those of some changes that help only together; none when all of them don't."""
    if not _help(ground, job, changes):
        return ()
    kept = changes
    for change in changes:
        fewer = [other for other in kept if other is not change]
        if _help(ground, job, fewer):
            kept = fewer
    return kept


def _help(ground: Ground, job: Body, changes: Sequence[Change]) -> bool:
    """Return whether changes together let a job start, now or later."""
    (judged,) = judge(ground, [_changed(job, changes)])
    return _may_start(judged.verdict.standing)


def _changed(job: Body, changes: Sequence[Change]) -> Body:
    for change in changes:
        job = merged(job, change.patch)
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
        (judged,) = judge(unjudged, [merged(queued, _nodes(nodes).patch)])
        return is_enough(judged.verdict)

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
    patch = {"spec": {"trainer": {"numNodes": number}}}
    return Change(f"set spec.trainer.numNodes to {number}", patch)


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
        grant = _meant(case, space)
        if grant is not None:
            yield _runtime(case, grant)
    if grant is not None:
        yield from _of_grant(case, job, grant)
    yield from _priority(space)
    yield from _in_quotes(job)
    for path in _SET_BY_OTHERS:
        if value_at(job, ".".join(path)) is not None:
            yield _removal(path)


def _of_grant(case: Case, job: Body, grant: Grant) -> Iterator[Change]:
    """Yield the queue of a runtime's nodes, and a name of a length that the runtime takes."""
    queue, longest = grant.launch.hardware.node_class, grant.launch.longest_job_name
    named = text(case.body, "metadata", "labels", QUEUE)
    if not _home(case).leads(named, queue):
        yield Change(f"set the label {QUEUE} to {queue}", {"metadata": {"labels": {QUEUE: queue}}})
    if len(case.name) > longest:
        key, appended = naming(job)
        name = case.name[: longest - appended].rstrip("-")
        display = f"shorten metadata.{key} to {longest - appended} characters"
        yield Change(display, {"metadata": {key: name}})


def _meant(case: Case, space: Space) -> Grant | None:
    """Return the permitted runtime that a job's wrong reference means; None when none is meant.

    Another runtime may have other libraries, or use no fabric: it is right only if its profile has
    the name that the job gives, or one that differs in a slip.
    """
    named = str(value_at(case.body, "spec.runtimeRef.name"))
    grants = {grant.launch.name: grant for grant in space.grants}
    for name, grant in grants.items():
        if name == named or name.startswith(f"{named}-"):
            return grant
    return grants.get(nearest(named, grants))


def _runtime(case: Case, grant: Grant) -> Change:
    reference = {"name": grant.launch.name, "kind": RUNTIME}
    written = mapping(case.body, "spec", "runtimeRef")
    differing = []
    for key, value in reference.items():
        if written.get(key, value) != value:
            differing.append(f"spec.runtimeRef.{key} to {value}")
    return Change(f"set {' and '.join(differing)}", {"spec": {"runtimeRef": reference}})


def _priority(space: Space) -> Iterator[Change]:
    if space.priorities:
        labels = dict(space.priorities[0].labels)
        display = ", ".join(f"{key}: {_written(value)}" for key, value in labels.items())
        yield Change(f"set the labels {display}", {"metadata": {"labels": labels}})


def _written(value: str) -> str:
    """Return text as YAML has it: digits need quotes."""
    return f'"{value}"' if value.isdecimal() else value


def _in_quotes(job: Body) -> Iterator[Change]:
    """Yield all variables, labels and annotations as text that YAML does not read as text."""
    displays, patch = [], dict[str, Any]()
    for display, value, part in (*_variables(job), *_metadata(job)):
        displays.append(f'{display} as "{value}"')
        patch = merged(patch, part)
    if len(displays) > _SHOWN:
        displays[_SHOWN:] = [f"{len(displays) - _SHOWN} more values as text"]
    if displays:
        yield Change(f"write {' and '.join(displays)}", patch)


def _variables(job: Body) -> Iterator[tuple[str, str, Body]]:
    """Yield path, text and patch of each variable whose value is not text."""
    variables = value_at(job, "spec.trainer.env")
    for index, variable in enumerate(variables if isinstance(variables, list) else ()):
        if isinstance(variable, dict) and isinstance(variable.get("value"), _NO_TEXT):
            value = json.dumps(variable["value"])
            patch = {"spec": {"trainer": {"env": [{**variable, "value": value}]}}}
            yield f"spec.trainer.env[{index}].value", value, patch


def _metadata(job: Body) -> Iterator[tuple[str, str, Body]]:
    """Yield path, text and patch of each label and annotation whose value is not text."""
    for field in ("labels", "annotations"):
        for name, written in mapping(job, "metadata", field).items():
            if isinstance(written, _NO_TEXT):
                value = json.dumps(written)
                yield f'metadata.{field}["{name}"]', value, {"metadata": {field: {name: value}}}


def _removal(path: Sequence[str]) -> Change:
    patch: Any = None
    for step in reversed(path):
        patch = {step: patch}
    return Change(f"remove {'.'.join(path)}", patch)
