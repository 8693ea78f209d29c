"""Add to the profiles, after checking them with the new files, their tree, and its change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from trainyard.change.history.check import check_replaced
from trainyard.diagnostics import Diagnostic, Severity, has_errors
from trainyard.generation.generate import Checked, Target, check_loaded, render
from trainyard.model.platform import Platform
from trainyard.profiles.read import load
from trainyard.scaffold.allocation import AllocationRequest, plan_allocation, without_numbers
from trainyard.scaffold.plan import Plan, write_plan
from trainyard.scaffold.several import Numbered, Several, several
from trainyard.scaffold.team import TeamPlan, plan_team
from trainyard.scaffold.team_name import Remembered
from trainyard.scaffold.team_request import TeamRequest
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Profiles

Planned = TypeVar("Planned", bound=Plan)

Planner = Callable[[Profiles, Platform, Remembered], tuple[Planned | None, tuple[Diagnostic, ...]]]
"""Returns a plan, or None and the reasons why there is none."""


@dataclass(frozen=True, slots=True)
class Addition(Generic[Planned]):
    """The result of adding to the profiles.

    Args:
        profiles: those that the findings are about; with the new files once they were planned.
        diagnostics: the reasons why nothing was written.
        plan: None when nothing was written.
        files: that were written.
    """

    profiles: Profiles
    diagnostics: tuple[Diagnostic, ...]
    plan: Planned | None = None
    files: tuple[Path, ...] = ()


def add_teams(
    place: Target, requests: Sequence[TeamRequest], today: str
) -> Addition[Several[TeamPlan]]:
    """Write the profiles and numbers of teams, all or none, unless they bring new errors.

    Args:
        place: as `add` takes it.
        requests: the teams that are wanted, with different names.
        today: as `add` takes it.

    Raises:
        TreeError: as `add`.
        ToolError: as `add`.
    """

    def planner(
        profiles: Profiles, platform: Platform, remembered: Remembered
    ) -> tuple[Several[TeamPlan] | None, tuple[Diagnostic, ...]]:
        one = partial(_team, platform)
        return several((partial(one, each) for each in requests), profiles, remembered)

    return add(place, planner, today)


def _team(
    platform: Platform, request: TeamRequest, profiles: Profiles, remembered: Remembered
) -> tuple[TeamPlan | None, tuple[Diagnostic, ...]]:
    return plan_team(profiles, platform, request, remembered)


def add_allocations(
    place: Target, request: AllocationRequest, teams: Sequence[str], today: str
) -> Addition[Several[Numbered]]:
    """Write numbers of teams on a further fabric into the ledger, unless they bring new errors.

    Args:
        place: as `add` takes it.
        request: the fabric that the numbers are of; its team does not matter.
        teams: whose numbers are wanted; when empty, all with quota on the fabric that lack some.
        today: as `add` takes it.

    Raises:
        TreeError: as `add`.
        ToolError: as `add`.
    """

    def planner(
        profiles: Profiles, platform: Platform, remembered: Remembered
    ) -> tuple[Several[Numbered] | None, tuple[Diagnostic, ...]]:
        requests = [replace(request, team=team) for team in teams]
        if not teams:
            requests, problems = without_numbers(platform, request)
            if problems:
                return None, problems
        one = partial(_allocation, platform)
        return several((partial(one, each) for each in requests), profiles, remembered)

    return add(place, planner, today)


def _allocation(
    platform: Platform, request: AllocationRequest, profiles: Profiles, remembered: Remembered
) -> tuple[Numbered | None, tuple[Diagnostic, ...]]:
    return plan_allocation(profiles, platform, request, remembered)


def add(
    place: Target, planner: Planner[Planned], today: str, *, others_may_wait: bool = False
) -> Addition[Planned]:
    """Write what is planned for the profiles, unless it brings new errors.

    Args:
        place: the profiles and the tree.
        planner: gets the profiles, the platform, and the numbers that lockfiles remember.
        today: ISO date that waivers and runtimes' ends are measured against.
        others_may_wait: a profile may name what does not exist, or have an open choice: the plan
            is of what is known without it.

    Raises:
        TreeError: a file can't be read or written; nothing is changed.
        ToolError: a schema of the release is missing.
    """
    loaded = load(place.root)
    before = check_loaded(*loaded, today)
    platform = before.platform or (before.resolved if others_may_wait else None)
    if platform is None:
        return Addition(before.profiles, before.diagnostics)
    remembered = {cluster: lock.numbers for cluster, lock in place.tree.locks().items()}
    plan, problems = planner(before.profiles, platform, remembered)
    if plan is None:
        return Addition(before.profiles, problems)
    after = check_loaded(*_with(plan.files, *loaded), today)
    errors = _new_errors(before, after, place, plan)
    if errors:
        return Addition(after.profiles, errors)
    return Addition(after.profiles, (), plan, write_plan(place.root, plan))


def _with(
    files: Mapping[str, bytes], profiles: Profiles, found: tuple[Diagnostic, ...]
) -> tuple[Profiles, tuple[Diagnostic, ...]]:
    """Return the profiles as they would be read after some files are written."""
    for path, content in files.items():
        source, problems = read(f"profiles/{path}", content)
        found += problems
        kind, _, name = path.removesuffix(".yaml").rpartition("/")
        new = {kind: {**getattr(profiles, kind), name: source}} if kind else {name: source}
        profiles = replace(profiles, **new)
    return profiles, found


def _new_errors(
    before: Checked, after: Checked, place: Target, plan: Plan
) -> tuple[Diagnostic, ...]:
    """Return the errors that an addition brings: where others had some before, those in its files.

    A tree was not made then, so its errors may be those of other profiles.
    """
    errors = tuple(_errors(after, place, plan.clusters))
    if errors:
        known = set(_errors(before, place, plan.clusters))
        errors = tuple(error for error in errors if error not in known)
    if before.platform is None:
        own = {f"profiles/{path}" for path in plan.files}
        errors = tuple(error for error in errors if error.at.file in own)
    return errors


def _errors(checked: Checked, place: Target, clusters: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield the errors of checked profiles, of the clusters' tree, and of its change."""
    generation = render(checked, place.components_root, clusters, place.tree)
    found = generation.diagnostics
    if not has_errors(found):
        found += tuple(check_replaced(place.tree, generation, tuple(clusters)))
    return (finding for finding in found if finding.severity is Severity.ERROR)
