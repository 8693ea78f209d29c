"""Describe the way of a cluster from one release to another, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.change.plan import Step
from trainyard.change.releases import Fault
from trainyard.change.stages import Action, Stage, stages
from trainyard.change.upgrade import Part, ReleaseChange
from trainyard.cli.impact.plan import numbered
from trainyard.cli.impact.sections import Section, name_of
from trainyard.model.differences import few

_SHOWN = 6
"""Fields of a TrainJob that are named; JSON has all."""


def release_section(change: ReleaseChange) -> Section:
    """Return the steps, each with its way back, and what users of jobs must know."""
    title = f"Release of {change.cluster}: {change.before} -> {change.after}"
    return Section(title, (*_steps(change), *_between(change), *_jobs(change), *_known(change)))


def _steps(change: ReleaseChange) -> Iterator[str]:
    if change.replaced:
        yield f"! other operators bring {few(change.replaced)}: this is not an upgrade in place"
        yield "  Make another cluster, and move the teams."
        return
    yield from numbered(_stage(change, stage) for stage in stages(change))


def _stage(change: ReleaseChange, stage: Stage) -> Step:
    match stage.action:
        case Action.DRAIN:
            return _drain(change)
        case Action.OPEN:
            return Step("~", "merge `state: active`, then run an acceptance test of a team")
        case Action.UPGRADE:
            return _step(stage)


def _drain(change: ReleaseChange) -> Step:
    file = f"profiles/clusters/{change.cluster}.yaml"
    return Step(
        "!",
        f"merge `state: draining` in {file}, then delete each TrainJob of {few(change.teams)}",
        (
            *_why_drained(change),
            "All running jobs are evicted, and none starts.",
            "way back: merge `state: active`",
        ),
    )


def _why_drained(change: ReleaseChange) -> Iterator[str]:
    if lost := change.jobs_lose:
        yield f"because: a TrainJob loses {_fields(lost)}, and a running one with it"
    yield from (f"because: {reason}" for reason in change.stuck)


def _step(stage: Stage) -> Step:
    """Return a step; what has to go at once is one window."""
    what, parts = stage.display, stage.parts
    together = len(parts) > 1
    impossible = [
        f"not possible in place: {reason}" for part in parts for reason in part.impossible
    ]
    details = [f"{_first(part)} alone: {_fault(part.alone[0])}" for part in parts if part.alone]
    return Step(
        "!" if together or impossible else "~",
        f"in one window: {what}" if together else what,
        (*impossible, *details, *_back(parts)),
    )


def _first(part: Part) -> str:
    return part.by or "the merge"


def _fault(fault: Fault) -> str:
    pair = " with ".join(f"{name} {version}" for name, version in fault.versions.items())
    return f"{pair}: {fault.consequence}"


def _back(parts: tuple[Part, ...]) -> Iterator[str]:
    """Yield how a step is taken back, and why one can't be."""
    for part in parts:
        yield from (f"no way back: {reason}" for reason in part.one_way)
    if not any(part.one_way for part in parts):
        yield f"way back: {', '.join(map(_undo, parts))}"


def _undo(part: Part) -> str:
    former = (f"{change.name} {change.before or 'none'}" for change in part.versions)
    return "revert the merge" if part.is_tree else ", ".join(former)


def _between(change: ReleaseChange) -> Iterator[str]:
    """Yield what servers drop between the first step and the last."""
    for each in change.dropped:
        objects = few(f"{one.kind} {name_of(one)}" for one in each.objects)
        yield f"! until both are done, servers drop or refuse: {each.fault} ({objects})"


def _jobs(change: ReleaseChange) -> Iterator[str]:
    if change.sdk:
        yield f"~ users: {change.sdk.display}"
    for verb, fields in (("no longer has", change.jobs_lose), ("now has", change.jobs_gain)):
        if fields:
            yield f"~ users: a TrainJob {verb} {_fields(fields)}"


def _fields(fields: Sequence[str]) -> str:
    """Return the first fields in one line."""
    more = f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else ""
    return ", ".join(f"`{field}`" for field in fields[:_SHOWN]) + more


def _known(change: ReleaseChange) -> Iterator[str]:
    for at, what in change.changes.items():
        yield f"~ {at}: {what}"
