"""Compare who may do what: namespaces, bindings and roles on both sides of a change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from trainyard.change.impact.values import differing
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model.identity import team_of
from trainyard.model.lookup import mappings, text
from trainyard.model.permissions import beyond, permissions
from trainyard.model.team import Team


@dataclass(frozen=True, slots=True)
class BoundRole:
    """A role in the namespaces where a subject has it.

    Args:
        role: name of a ClusterRole, or ``Role NAME``.
        namespaces: sorted; empty for the whole cluster.
    """

    role: str
    namespaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AccessChange:
    """Roles that a subject gains or loses.

    Args:
        subject: ``group nlp-leads``, ``service account team-nlp/ci-runner`` or ``user ...``.
        gained, lost: sorted.
    """

    subject: str
    gained: tuple[BoundRole, ...]
    lost: tuple[BoundRole, ...]

    @property
    def is_loss(self) -> bool:
        """Whether it loses something and gains nothing."""
        return bool(self.lost) and not self.gained


@dataclass(frozen=True, slots=True)
class RoleChange:
    """A role that permits more or less than before.

    Args:
        role: as in `BoundRole`.
        gained, lost: permissions in one line each, e.g. ``get, list pods``; sorted.
        subjects: that have it on both sides; sorted.
    """

    role: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    subjects: tuple[str, ...]

    @property
    def is_loss(self) -> bool:
        """Whether it permits less, and nothing else instead."""
        return bool(self.lost) and not self.gained


@dataclass(frozen=True, slots=True)
class NamespaceChange:
    """A namespace that is added or removed.

    Args:
        team: whose it is; empty for the platform's.
    """

    namespace: str
    team: str
    added: bool


@dataclass(frozen=True, slots=True)
class Rename:
    """A team that has a new name.

    Args:
        folder: its folder on NFS servers and in secret stores.
        kept: groups and accounts whose roles are the same under the new name, sorted.
    """

    before: str
    after: str
    folder: str = ""
    kept: tuple[str, ...] = ()


_ACCOUNT = "service account "
"""Begins a subject in a namespace; the name of a group may have spaces and slashes too."""


def namespace_changes(sides: Sides) -> tuple[NamespaceChange, ...]:
    """Return each namespace that is added or removed, sorted."""
    before, after = _namespaces(sides.before), _namespaces(sides.after)
    teams = before | after
    changed = sorted(before.keys() ^ after.keys())
    return tuple(NamespaceChange(name, teams[name], name in after) for name in changed)


def access_changes(sides: Sides) -> tuple[AccessChange, ...]:
    """Return the roles that each subject gains and loses, sorted by subject.

    The roles of a renamed team are compared as if the old namespaces had the new names.
    """
    before, after = _comparable(sides)
    gained, lost = _by_subject(after - before), _by_subject(before - after)
    subjects = sorted({*gained, *lost})
    return tuple(AccessChange(each, _bound(gained[each]), _bound(lost[each])) for each in subjects)


def rename_changes(sides: Sides) -> tuple[Rename, ...]:
    """Return the teams with new names, and who keeps all roles in their namespaces, sorted."""
    if not sides.renamed:
        return ()
    changed = {access.subject for access in access_changes(sides)}
    bound = set[_Held]().union(*_comparable(sides))
    renames = []
    for old, team in sorted(_renamed_teams(sides).items()):
        own = {space.namespace for space in team.spaces}
        keep = {held.subject for held in bound if held.namespace in own} - changed
        renames.append(Rename(old, team.name, team.folder, tuple(sorted(keep))))
    return tuple(renames)


def _comparable(sides: Sides) -> tuple[set[_Held], set[_Held]]:
    """Return the roles on both sides, without those left behind in namespaces of old names."""
    new = sides.moved
    before = {_renamed(held, new) for held in _held(sides.before)}
    return before, {held for held in _held(sides.after) if held.namespace not in new}


def _renamed_teams(sides: Sides) -> dict[str, Team]:
    """Return each renamed team by its old name."""
    _, after = sides.tenants
    return {old: after[new].team for old, new in sides.renamed.items() if new in after}


def _renamed(held: _Held, new: Mapping[str, str]) -> _Held:
    """Return a role under the new names of namespaces."""
    subject = held.subject
    if subject.startswith(_ACCOUNT):
        namespace, _, account = subject.removeprefix(_ACCOUNT).partition("/")
        subject = f"{_ACCOUNT}{new.get(namespace, namespace)}/{account}"
    owner = new.get(held.role.namespace, held.role.namespace)
    role = held.role._replace(namespace=owner)
    return _Held(subject, role, new.get(held.namespace, held.namespace))


def role_changes(sides: Sides) -> tuple[RoleChange, ...]:
    """Return the roles that permit more or less for those who keep them, sorted by role.

    A role that is on one side only matters by its bindings.
    """
    changes = []
    for role, before, after in differing(_rules(sides.before), _rules(sides.after)):
        old, new = permissions(role.display, before), permissions(role.display, after)
        gained, lost = beyond(new, old), beyond(old, new)
        if gained or lost:
            changes.append(RoleChange(role.display, gained, lost, _keep(sides, role)))
    return tuple(changes)


def _keep(sides: Sides, role: _Role) -> tuple[str, ...]:
    """Return the subjects that have a role somewhere on both sides, sorted."""
    both = set(_held(sides.before)) & set(_held(sides.after))
    return tuple(sorted({held.subject for held in both if held.role == role}))


class _Role(NamedTuple):
    """A role as a binding names it.

    Args:
        namespace: of a Role; empty for a ClusterRole.
    """

    kind: str
    namespace: str
    name: str

    @property
    def display(self) -> str:
        return f"Role {self.name}" if self.kind == "Role" else self.name


class _Held(NamedTuple):
    """A role of a subject.

    Args:
        namespace: where it counts; empty for the whole cluster.
    """

    subject: str
    role: _Role
    namespace: str


def _namespaces(objects: Objects) -> dict[str, str]:
    """Return each namespace of a tree with its team."""
    return {namespace.name: team_of(namespace) for namespace in of_kind(objects, "Namespace")}


def _held(objects: Objects) -> Iterator[_Held]:
    """Yield each role of each subject, once for each binding of it."""
    for binding in of_kind(objects, "ClusterRoleBinding", "RoleBinding"):
        kind, name = text(binding.body, "roleRef", "kind"), text(binding.body, "roleRef", "name")
        role = _Role(kind, binding.namespace if kind == "Role" else "", name)
        for subject in mappings(binding.body, "subjects"):
            yield _Held(_subject(subject, binding.namespace), role, binding.namespace)


def _subject(subject: Mapping[str, Any], namespace: str) -> str:
    kind, name = text(subject, "kind"), text(subject, "name")
    if kind == "ServiceAccount":
        return f"{_ACCOUNT}{text(subject, 'namespace') or namespace}/{name}"
    return f"{kind.lower()} {name}"


def _rules(objects: Objects) -> dict[_Role, tuple[dict[str, Any], ...]]:
    rules = {}
    for role in of_kind(objects, "ClusterRole", "Role"):
        rules[_Role(role.kind.name, role.namespace, role.name)] = mappings(role.body, "rules")
    return rules


def _by_subject(roles: set[_Held]) -> dict[str, list[_Held]]:
    subjects: dict[str, list[_Held]] = defaultdict(list)
    for held in sorted(roles):
        subjects[held.subject].append(held)
    return subjects


def _bound(roles: list[_Held]) -> tuple[BoundRole, ...]:
    """Return each role once, with its namespaces; for the whole cluster it has a line of its own.

    Args:
        roles: of one subject, sorted.
    """
    namespaces: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for held in roles:
        namespaces[held.role.display, not held.namespace].append(held.namespace)
    bound = []
    for (role, everywhere), where in sorted(namespaces.items()):
        bound.append(BoundRole(role, () if everywhere else tuple(where)))
    return tuple(bound)
