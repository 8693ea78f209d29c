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
    found = check_loaded(mixed, (), today).diagnostics
    new = _new(found, (*base.diagnostics, *head.diagnostics))
    concerning = (each for each in new if has_errors([each]) or each.at.file in teams)
    yield from needs_platform_change(Edited(teams, platform), concerning)


def _new(found: Iterable[Diagnostic], known: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    keys = {each.fact for each in known}
    return (each for each in found if each.fact not in keys)


def differing(before: Profiles, after: Profiles) -> Iterator[str]:
    """Yield the profiles that say something else, sorted; comments and order of keys don't."""
    old, new = before.sources(), after.sources()
    for file in sorted({*old, *new}):
        if _value(old, file) != _value(new, file):
            yield file


def _value(sources: Mapping[str, Source], file: str) -> Any:
    return sources[file].value if file in sources else None


def with_platform_of(base: Profiles, head: Profiles) -> Profiles:
    """Return the base's profiles with the head's teams, and with these teams' own ledger lines."""
    edited = {name for name in {*base.teams, *head.teams} if _of(base, name) != _of(head, name)}
    ledger = _ledger(base.allocations, head.allocations, edited, _namespaces(base, head, edited))
    return replace(base, teams=head.teams, allocations=ledger)


def _of(profiles: Profiles, team: str) -> Any:
    return profiles.teams[team].value if team in profiles.teams else None


def _namespaces(base: Profiles, head: Profiles, teams: Iterable[str]) -> set[str]:
    """Return the namespaces that teams have on either side."""
    found = set()
    for team in teams:
        for profiles in (base, head):
            spaces = (_of(profiles, team) or {}).get("spaces", {})
            found |= {names.namespace(team, space) for space in ("", *spaces)}
    return found


def _ledger(base: Source, head: Source, teams: set[str], namespaces: set[str]) -> Source:
    """Return the base's ledger with the head's lines of some teams and namespaces."""
    old, new = base.value or {}, head.value or {}
    merged: dict[str, dict[str, Any]] = {}
    for cluster in sorted({*old, *new}):
        for section in sorted({*old.get(cluster, {}), *new.get(cluster, {})}):
            own = namespaces if section == UIDS else teams
            before, after = (each.get(cluster, {}).get(section, {}) for each in (old, new))
            merged.setdefault(cluster, {})[section] = _lines(before, after, own)
    return replace(head, value=merged)


def _lines(base: Mapping[str, Any], head: Mapping[str, Any], own: set[str]) -> dict[str, Any]:
    """Return the base's lines of a section; some lines as the head has them."""
    lines = {key: line for key, line in base.items() if key not in own}
    return lines | {key: line for key, line in head.items() if key in own}
