"""Find what reviewers of a change must know, and who approves it: the base judges the change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import Checked, Generation, check_loaded
from trainyard.generation.waivers import not_waived
from trainyard.model import names
from trainyard.model.differences import Difference, differences
from trainyard.model.ids import UIDS
from trainyard.model.platform import Platform
from trainyard.rules.review import (
    Deletions,
    Edited,
    at_anothers_cost,
    base_with_errors,
    judged,
    many_deletions,
    needs_platform_change,
)
from trainyard.tree.lockfile import LOCKFILE
from trainyard.tree.tree import Tree
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
            namespaces |= {*names.namespaces(team, profile).values()}
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


_DECIDES = {"profiles/trainyard.yaml": ("owners", "review"), "profiles/waivers.yaml": ("waivers",)}
"""Keys that decide what a change needs, by file; ``owners`` of a team does, too."""
_TEAMS = "profiles/teams/"


@dataclass(frozen=True, slots=True)
class Approval:
    """A file that a change edits, and who approves that.

    Args:
        file: as findings name it; ``CODEOWNERS`` when the change states other owners.
        owners: in the base, of whom any one approves; empty when it states nobody.
        change: ``created``, ``changed`` or ``deleted``, of a profile; a renamed team's is changed.
        edits: what differs in a profile that is changed.
        decides: what differs in owners, limits and waivers.
    """

    file: str
    owners: tuple[str, ...]
    change: str = "changed"
    edits: tuple[Difference, ...] = ()
    decides: tuple[Difference, ...] = ()


def approvals(tree: Tree, base: Checked, generation: Generation) -> tuple[Approval, ...]:
    """Return the files that a change edits; comments and the order of keys of profiles don't count.

    Args:
        tree: the base's.
        base: what the change would replace; one that can't be resolved states no owners.
        generation: the head's; profiles with errors have no lockfile.
    """
    files = [*_lockfiles(tree, generation)]
    if _stated(base.profiles) != _stated(generation.checked.profiles):
        files.append("CODEOWNERS")
    platform = _owners_of_platform(base.platform)
    return (*_edited(base, generation.checked), *(Approval(file, platform) for file in files))


def _lockfiles(tree: Tree, generation: Generation) -> Iterator[str]:
    """Yield the lockfiles that a change edits."""
    locks = (path for path in generation.files if path.endswith(f"/{LOCKFILE}"))
    new = {path: generation.files[path] for path in locks}
    for path in sorted(new.keys() - tree.holding(new)):
        yield f"overlays/{path}"


def _stated(profiles: Profiles) -> dict[str, Any]:
    """Return the owners that profiles state, by file."""
    owners = {}
    for source in (profiles.settings, *profiles.teams.values()):
        if own := _mapping(source).get("owners"):
            owners[source.file] = own
    return owners


def _edited(base: Checked, head: Checked) -> Iterator[Approval]:
    before, after = base.profiles.sources(), head.profiles.sources()
    for file in differing(base.profiles, head.profiles):
        new = _mapping(after.get(file))
        # A renamed team's profile had another name.
        former = before.get(f"{_TEAMS}{new.get('renamedFrom')}.yaml")
        old = _mapping(former) or _mapping(before.get(file))
        change = _change_of(bool(_mapping(former)) or file in before, file in after)
        edits = tuple(differences(old, new)) if change == "changed" else ()
        decides = tuple(_decides(file, old, new)) if new else ()
        yield Approval(file, _owners(base.platform, file), change, edits, decides)


def _change_of(was: bool, stays: bool) -> str:
    if not was:
        return "created"
    return "changed" if stays else "deleted"


def _mapping(source: Source | None) -> Mapping[str, Any]:
    """Return what a profile says; nothing when there is none, or it is not a mapping."""
    return source.value if source and isinstance(source.value, dict) else {}


def _decides(file: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for key in ("owners",) if file.startswith(_TEAMS) else _DECIDES.get(file, ()):
        yield from differences(old.get(key), new.get(key), key)


def _owners(platform: Platform | None, file: str) -> tuple[str, ...]:
    """Return who approves changes of a profile; of a new team's, the owners of the platform."""
    if platform is None:
        return ()
    if not file.startswith(_TEAMS):
        return platform.settings.owners.of_profile(file)
    for team in platform.teams:
        if team.at.file == file and team.owners:
            return team.owners
    return _owners_of_platform(platform)


def _owners_of_platform(platform: Platform | None) -> tuple[str, ...]:
    return platform.settings.owners.platform if platform else ()
