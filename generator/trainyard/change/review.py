"""Find what the reviewers of a change must know: the base's platform judges the change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import Checked, check_loaded
from trainyard.generation.waivers import not_waived
from trainyard.model import names
from trainyard.model.ids import UIDS
from trainyard.rules.review import (
    Deletions,
    Edited,
    at_anothers_cost,
    base_with_errors,
    judged,
    many_deletions,
    needs_platform_change,
)
from trainyard.yaml_io.source import Profiles, Source


def review(
    base: Checked, head: Checked, deletions: Mapping[str, Deletions], today: str
) -> Iterator[Diagnostic]:
    """Yield the findings about a change, with the limits, owners and waivers of the base.

    Args:
        base: what the change would replace; one with errors can't judge it, which is reported.
        head: the profiles with the change, without errors.
        deletions: by cluster.
        today: as `check` takes it.
    """
    # A base without profiles may have a tree: the change moved them, or made their folder a link.
    had_objects = any(each.objects for each in deletions.values())
    if base.platform is None and (base.profiles.teams or had_objects):
        yield from base_with_errors(base.diagnostics)
    if base.platform is None or head.platform is None:
        return
    settings = base.platform.settings
    found = (
        *_only_with_platform(base, head, today),
        *at_anothers_cost(base.platform, head.platform),
        *many_deletions(settings, deletions),
    )
    yield from not_waived(judged(found, settings.review), base.profiles.waivers)


def _only_with_platform(base: Checked, head: Checked, today: str) -> Iterator[Diagnostic]:
    """Yield the teams of the change that are valid only with its other files."""
    assert base.platform is not None
    mixed = with_platform_of(base.profiles, head.profiles)
    teams = frozenset(differing(base.profiles, mixed))
    owners = base.platform.settings.owners
    platform = {file: owners.of_profile(file) for file in differing(mixed, head.profiles)}
    if not teams or not platform:
        return
    new = _new(check_loaded(mixed, (), today).diagnostics, base, head)
    concerning = (found for found in new if has_errors([found]) or found.at.file in teams)
    yield from needs_platform_change(Edited(teams, platform), concerning)


def _new(found: Iterable[Diagnostic], base: Checked, head: Checked) -> list[Diagnostic]:
    """Return the findings that neither side has."""
    known = {diagnostic.fact for diagnostic in (*base.diagnostics, *head.diagnostics)}
    return [diagnostic for diagnostic in found if diagnostic.fact not in known]


def differing(before: Profiles, after: Profiles) -> Iterator[str]:
    """Yield the profiles that say something else, sorted; comments and order of keys don't."""
    return _differing(before.sources(), after.sources())


def _differing(old: Mapping[str, Source], new: Mapping[str, Source]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if _value(old, name) != _value(new, name):
            yield name


def _value(sources: Mapping[str, Source], name: str) -> Any:
    return sources[name].value if name in sources else None


def with_platform_of(base: Profiles, head: Profiles) -> Profiles:
    """Return the base's profiles with the head's teams, and with these teams' own ledger lines."""
    edited = {*_differing(base.teams, head.teams)}
    ledger = _ledger(base.allocations, head.allocations, edited, _namespaces(base, head, edited))
    return replace(base, teams=head.teams, allocations=ledger)


def _namespaces(base: Profiles, head: Profiles, teams: Iterable[str]) -> set[str]:
    """Return the namespaces that teams have on either side."""
    namespaces = set()
    for team in teams:
        for profiles in (base, head):
            profile = _value(profiles.teams, team) or {}
            for space in ("", *profile.get("spaces", {})):
                namespaces.add(names.namespace(team, space))
    return namespaces


def _ledger(base: Source, head: Source, teams: set[str], namespaces: set[str]) -> Source:
    """Return the base's ledger with the head's lines of some teams and namespaces."""
    old, new = base.value or {}, head.value or {}
    merged: dict[str, dict[str, Any]] = {}
    for cluster in sorted({*old, *new}):
        before, after = old.get(cluster, {}), new.get(cluster, {})
        for section in sorted({*before, *after}):
            own = namespaces if section == UIDS else teams
            lines = _lines(before.get(section, {}), after.get(section, {}), own)
            merged.setdefault(cluster, {})[section] = lines
    return replace(head, value=merged)


def _lines(base: Mapping[str, Any], head: Mapping[str, Any], own: set[str]) -> dict[str, Any]:
    """Return the base's lines of a section; some lines as the head has them."""
    lines = {name: line for name, line in base.items() if name not in own}
    return lines | {name: line for name, line in head.items() if name in own}
