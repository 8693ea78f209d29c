"""Rules on a change between two platforms, for its reviewers.

The base's limits and owners judge the change, never the change's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from trainyard.diagnostics import Diagnostic, Note, Pointer, Severity
from trainyard.model.differences import few
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.model.renames import renames
from trainyard.model.review import Review
from trainyard.model.settings import Settings
from trainyard.model.team import Quota
from trainyard.rules.change.at_anothers_cost import RULE as AT_ANOTHERS_COST
from trainyard.rules.change.base_with_errors import RULE as BASE_WITH_ERRORS
from trainyard.rules.change.many_deletions import RULE as MANY_DELETIONS
from trainyard.rules.change.needs_platform_change import RULE as NEEDS_PLATFORM_CHANGE

_Quotas: TypeAlias = dict[str, Quota]
"""Quotas on one pool by team."""

RULES = (BASE_WITH_ERRORS, NEEDS_PLATFORM_CHANGE, AT_ANOTHERS_COST, MANY_DELETIONS)


@dataclass(frozen=True, slots=True)
class Edited:
    """Profiles that a change edits, creates or deletes.

    Args:
        teams: files of teams.
        platform: other files with their owners in the base; empty for a file that nobody owns.
    """

    teams: frozenset[str]
    platform: Mapping[str, tuple[str, ...]]


def base_with_errors(findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield that a base can't judge a change, at the file of the first of its findings."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        first = errors[0]
        message = f"the base has {counted(len(errors), 'error')}: {first.rule}, {first.message}"
        yield BASE_WITH_ERRORS.at(Pointer(first.at.file), message)


def needs_platform_change(edited: Edited, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the edited teams that are valid only with the edited platform files.

    Args:
        edited: the change.
        found: about the change's teams with the base's platform, without those that either side
            has.
    """
    by_team: dict[str, list[Diagnostic]] = {}
    for finding in found:
        for file in sorted(_files(finding) & edited.teams):
            by_team.setdefault(file, []).append(finding)
    notes = [Note(_approval(owners), Pointer(file)) for file, owners in edited.platform.items()]
    for file, findings in sorted(by_team.items()):
        first, *others = findings
        more = f" (and {counted(len(others), 'more finding')})" if others else ""
        message = (
            f"without the change of {few(edited.platform)}, {first.rule} is found: "
            f"{first.message}{more}"
        )
        yield NEEDS_PLATFORM_CHANGE.at(_place(first, file), message, notes=notes)


def _files(finding: Diagnostic) -> set[str]:
    return {finding.at.file, *(note.at.file for note in finding.notes if note.at)}


def _place(finding: Diagnostic, file: str) -> Pointer:
    """Return the place of a finding, or of its note, in a file."""
    places = (finding.at, *(note.at for note in finding.notes if note.at))
    return next(at for at in places if at.file == file)


def _approval(owners: tuple[str, ...]) -> str:
    return f"to be approved by {' or '.join(owners)}" if owners else "nobody is stated as its owner"


def at_anothers_cost(base: Platform, head: Platform) -> Iterator[Diagnostic]:
    """Yield the teams that lose nodes of a pool on which a team of other owners gains some."""
    renamed = _new_names(base, head)
    before, after = _quotas(base, renamed), _quotas(head, {})
    places = {renamed.get(team.name, team.name): team for team in base.teams}
    owners = _owners(base, renamed)
    for pool, old in sorted(before.items()):
        new = after.get(pool, {})
        for team, others in _losses(owners, old, new):
            lost = old[team].display(_nodes(old, team) - _nodes(new, team))
            former = places[team]
            message = (
                f"team {former.name} loses {lost} of pool `{pool[1]}` on cluster `{pool[0]}`, and "
                f"{few(others)} gains some"
            )
            at = new[team].place if team in new else former.at
            yield AT_ANOTHERS_COST.at(at, message, notes=[Note(_approval(owners[team]), former.at)])


def _losses(
    owners: Mapping[str, tuple[str, ...]], old: _Quotas, new: _Quotas
) -> Iterator[tuple[str, list[str]]]:
    """Yield each team that loses nodes of a pool, with the teams of other owners that gain some."""
    gaining = [team for team in sorted(new) if _nodes(new, team) > _nodes(old, team)]
    for team in sorted(old):
        others = [each for each in gaining if owners[each] != owners[team]]
        if others and _nodes(new, team) < _nodes(old, team):
            yield team, others


def _new_names(base: Platform, head: Platform) -> dict[str, str]:
    renamed = renames(head.teams, {team.name for team in base.teams})
    return {old: team.name for old, team in renamed.items()}


def _quotas(platform: Platform, names: Mapping[str, str]) -> dict[tuple[str, str], _Quotas]:
    """Return the quotas by cluster and pool, then by team, with the teams' new names."""
    quotas: dict[tuple[str, str], _Quotas] = {}
    for team in platform.teams:
        for quota in team.quotas:
            by_team = quotas.setdefault((quota.cluster, quota.pool), {})
            by_team[names.get(team.name, team.name)] = quota
    return quotas


def _nodes(quotas: _Quotas, team: str) -> Fraction:
    return quotas[team].nodes if team in quotas else Fraction(0)


def _owners(base: Platform, names: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """Return who approves changes of each team in the base: a new team has the platform's owners.

    Args:
        base: the platform.
        names: of renamed teams, the new ones by the old.
    """
    platform = base.settings.owners.platform
    stated = {names.get(team.name, team.name): team.owners or platform for team in base.teams}
    return defaultdict(lambda: platform, stated)


class Deletions(NamedTuple):
    """Number of a cluster's objects that a change deletes, and of all that it had."""

    deleted: int
    objects: int


def many_deletions(base: Settings, clusters: Mapping[str, Deletions]) -> Iterator[Diagnostic]:
    """Yield the clusters that lose a larger share of their objects than the base permits.

    Args:
        base: with the limit and the owners.
        clusters: by name.
    """
    limit = base.review.deleted
    for name, (deleted, objects) in sorted(clusters.items()):
        if deleted * 100 > limit * objects:
            message = (
                f"{deleted} of {counted(objects, 'object')} of cluster `{name}` would be "
                f"deleted, more than {limit} %"
            )
            note = Note(_approval(base.owners.of_cluster(name)))
            at = Pointer(f"profiles/clusters/{name}.yaml")
            yield MANY_DELETIONS.at(at, message, notes=[note])


def judged(findings: Iterable[Diagnostic], review: Review) -> Iterator[Diagnostic]:
    """Yield findings about a change as errors where the base says so."""
    for finding in findings:
        strict = finding.rule in review.errors
        yield replace(finding, severity=Severity.ERROR) if strict else finding
