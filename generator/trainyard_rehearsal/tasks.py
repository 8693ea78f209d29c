"""What a rehearsal is asked for, and the tasks that start its control planes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import Generation, Target
from trainyard.generation.generate import Progress as Steps
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.render.views.site import SiteView
from trainyard_rehearsal.control_plane.components import (
    PROCESSES,
    components_of,
    queueing,
)
from trainyard_rehearsal.control_plane.lab import Lab, Plan
from trainyard_rehearsal.logs import mark
from trainyard_rehearsal.outcome import Outcome

Progress = Callable[[str], None]
"""Function that prints a line of progress."""

Task = Callable[[], tuple[Outcome, ...]]
"""Starts a control plane, and returns what was tried on it."""

AT_ONCE = 2
"""Control planes that run at the same time; each uses about one core and 5 GB of memory."""


@dataclass(frozen=True, slots=True)
class Origin(Target):
    """Profiles and their tree, on a day.

    Args:
        today: ISO date that waivers are measured against.
    """

    today: str


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Result of a rehearsal.

    Args:
        outcomes: by cluster; empty if the tree has errors, since nothing is started then.
    """

    generation: Generation
    diagnostics: tuple[Diagnostic, ...]
    outcomes: dict[str, tuple[Outcome, ...]]

    @property
    def fine(self) -> bool:
        """True if every promise held."""
        every = [outcome.fine for outcomes in self.outcomes.values() for outcome in outcomes]
        return bool(every) and all(every) and not has_errors(self.diagnostics)


@dataclass(frozen=True, slots=True)
class Request:
    """Request for a rehearsal.

    Args:
        source: the profiles and the tree.
        clusters: names of the clusters; all if empty.
        team: name of the team whose jobs are run; all if empty.
        on: kind of control plane, e.g. ``kind``.
        every: whether every team is tried, instead of a sample of each shape.
        upgraded: names the commit before an upgrade; empty where none is rehearsed.
    """

    source: Origin
    clusters: tuple[str, ...]
    team: str
    on: str
    every: bool = False
    upgraded: str = ""


def counting(tasks: Sequence[Task], steps: Steps) -> Iterator[Task]:
    """Yield the tasks; each counts itself when it has ended."""
    numbers = count(1)

    def run(task: Task) -> tuple[Outcome, ...]:
        outcomes = task()
        steps(next(numbers), len(tasks))
        return outcomes

    for task in tasks:
        yield partial(run, task)


def plan_of(site: Site, tree: Path, manifests: Iterable[Manifest], on: str = PROCESSES) -> Plan:
    """Return the plan of a control plane for a cluster.

    Args:
        site: the cluster.
        tree: folder of its files.
        manifests: the objects of its tree that Argo CD applies.
        on: kind of control plane.

    Raises:
        ToolError: its release has a version that can't be rehearsed.
    """
    kinds = {(each.body["apiVersion"], each.body["kind"]) for each in manifests}
    release = components_of(site.cluster.release, on)
    components = queueing(release, SiteView(site).framework_names)
    return Plan(site, tree, components, kinds)


def reported(lab: Lab, outcomes: Iterator[Outcome], progress: Progress) -> Iterator[Outcome]:
    """Yield outcomes with the logged errors, and print progress, while every process runs.

    Args:
        lab: on which they are tried.
        outcomes: tried when it is iterated.
        progress: prints lines of progress.

    Raises:
        ToolError: a process has ended, so its outcomes do not count.
    """
    since = mark(lab.processes.logs)
    for outcome in outcomes:
        lab.processes.check()
        progress(f"{lab.plan.site.name}: {outcome.promise} {outcome.held}/{outcome.tried}")
        yield since.explained(outcome)
        since = mark(lab.processes.logs)
