"""Add a team, after checking the profiles with it, their tree, and the change of the tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.diagnostics import Diagnostic, Severity, has_errors
from trainyard.profiles.read import load
from trainyard.scaffold.team import TeamPlan, TeamRequest, plan_team, write_team
from trainyard.scaffold.team_name import Remembered
from trainyard.workflows.generate import Checked, Target, check_loaded, render
from trainyard.workflows.transition import check_replaced, locks
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Profiles


@dataclass(frozen=True, slots=True)
class Addition:
    """The result of adding a team.

    Args:
        profiles: those that the findings are about; with the new team once it was planned.
        diagnostics: the reasons why nothing was written.
        plan: None when nothing was written.
        files: that were written.
    """

    profiles: Profiles
    diagnostics: tuple[Diagnostic, ...]
    plan: TeamPlan | None = None
    files: tuple[Path, ...] = ()


def add_team(place: Target, request: TeamRequest, today: str) -> Addition:
    """Write a team's profile and numbers, unless they bring new errors.

    Args:
        place: the profiles and the tree.
        request: the team that is wanted.
        today: ISO date that waivers and runtimes' ends are measured against.

    Raises:
        TreeError: a file can't be read or written; nothing is changed.
        ToolError: a schema of the release is missing.
    """
    loaded = load(place.root)
    before = check_loaded(*loaded, today)
    if before.platform is None:
        return Addition(before.profiles, before.diagnostics)
    remembered: Remembered = {
        cluster: (*lock.holdings, *lock.ids) for cluster, lock in locks(place.target)
    }
    plan, problems = plan_team(before.profiles, before.platform, request, remembered)
    if plan is None:
        return Addition(before.profiles, problems)
    after = check_loaded(*_with(plan, *loaded), today)
    if errors := tuple(_errors(after, place, plan.cluster)):
        known = set(_errors(before, place, plan.cluster))
        errors = tuple(each for each in errors if each not in known)
    if errors:
        return Addition(after.profiles, errors)
    return Addition(after.profiles, (), plan, write_team(place.root, plan))


def _with(
    plan: TeamPlan, profiles: Profiles, found: tuple[Diagnostic, ...]
) -> tuple[Profiles, tuple[Diagnostic, ...]]:
    """Return the profiles as they would be read after the plan is written."""
    team, ledger = profiles.teams, profiles.allocations
    for path, content in plan.files.items():
        source, problems = read(f"profiles/{path}", content)
        found += problems
        if path == plan.profile:
            team = {**team, plan.request.name: source}
        else:
            ledger = source
    return replace(profiles, teams=team, allocations=ledger), found


def _errors(checked: Checked, place: Target, cluster: str) -> Iterator[Diagnostic]:
    """Yield the errors of checked profiles, of the cluster's tree, and of its change."""
    generation = render(checked, place.components_root, [cluster], place.target)
    found = generation.diagnostics
    if not has_errors(found):
        found += tuple(check_replaced(place.target, generation, [cluster]))
    return (each for each in found if each.severity is Severity.ERROR)
