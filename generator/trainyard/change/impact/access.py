"""Compare who may do what: namespaces, bindings and roles on both sides of a change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainyard.change.impact.model import NamespaceChange, Rename, Sides
from trainyard.change.impact.permissions import beyond, permissions
from trainyard.change.impact.rights import AccessChange, BoundRole, RoleChange
from trainyard.model.identity import Identity, team_of
from trainyard.model.lookup import mappings, text
from trainyard.model.manifest import Manifest
from trainyard.model.renames import renamed_namespaces
from trainyard.model.team import Team

Objects = Mapping[Identity, Manifest]


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
    return tuple(
        AccessChange(subject, _bound(gained[subject]), _bound(lost[subject]))
        for subject in sorted({*gained, *lost})
    )


def rename_changes(sides: Sides) -> tuple[Rename, ...]:
    """Return the teams with new names, and who keeps all roles in their namespaces, sorted."""
    if not sides.renamed:
        return ()
    changed = {each.subject for each in access_changes(sides)}
    held = set[_Held]().union(*_comparable(sides))
    found = []
    for old, team in sorted(_renamed_teams(sides).items()):
        own = set(renamed_namespaces({old: team}).values())
        keep = {each.subject for each in held if each.namespace in own} - changed
        found.append(Rename(old, team.name, team.folder, tuple(sorted(keep))))
    return tuple(found)


def _comparable(sides: Sides) -> tuple[set[_Held], set[_Held]]:
    """Return the roles on both sides, without those left behind in namespaces of old names."""
    before, after = set(_held(sides.before)), set(_held(sides.after))
    new = renamed_namespaces(_renamed_teams(sides))
    renamed = {_renamed(each, new) for each in before}
    return renamed, {each for each in after if each.namespace not in new}


def _renamed_teams(sides: Sides) -> dict[str, Team]:
    """Return each renamed team by its old name."""
    teams = {each.name: each.team for each in sides.new.tenants} if sides.new else {}
    return {old: teams[new] for old, new in sides.renamed.items() if new in teams}


def _renamed(held: _Held, new: Mapping[str, str]) -> _Held:
    """Return a role under the new names of namespaces."""
    kind, _, name = held.subject.rpartition(" ")
    namespace, slash, account = name.partition("/")
    subject = f"{kind} {new.get(namespace, namespace)}/{account}" if slash else held.subject
    owner = new.get(held.role.namespace, held.role.namespace)
    role = held.role._replace(namespace=owner)
    return _Held(subject, role, new.get(held.namespace, held.namespace))


def role_changes(sides: Sides) -> tuple[RoleChange, ...]:
    """Return the roles that permit more or less for those who keep them, sorted by role.

    A role that is on one side only matters by its bindings.
    """
    before, after = _rules(sides.before), _rules(sides.after)
    edited = {role for role in before.keys() & after.keys() if before[role] != after[role]}
    found = []
    for role in sorted(edited):
        old, new = permissions(before[role]), permissions(after[role])
        gained, lost = beyond(new, old), beyond(old, new)
        if gained or lost:
            found.append(RoleChange(role.display, gained, lost, _keep(sides, role)))
    return tuple(found)


def _keep(sides: Sides, role: _Role) -> tuple[str, ...]:
    """Return the subjects that have a role somewhere on both sides, sorted."""
    held = set(_held(sides.before)) & set(_held(sides.after))
    return tuple(sorted({each.subject for each in held if each.role == role}))


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


_BINDINGS = ("ClusterRoleBinding", "RoleBinding")
_ROLES = ("ClusterRole", "Role")


def _namespaces(objects: Objects) -> dict[str, str]:
    """Return each namespace of a tree with its team."""
    return {each.name: team_of(each) for key, each in objects.items() if key.kind == "Namespace"}


def _held(objects: Objects) -> Iterator[_Held]:
    """Yield each role of each subject, once for each binding of it."""
    for key, each in objects.items():
        if key.kind in _BINDINGS:
            kind = text(each.body, "roleRef", "kind")
            owner = key.namespace if kind == "Role" else ""
            role = _Role(kind, owner, text(each.body, "roleRef", "name"))
            for subject in mappings(each.body, "subjects"):
                yield _Held(_subject(subject, key.namespace), role, key.namespace)


def _subject(subject: Mapping[str, Any], namespace: str) -> str:
    kind, name = text(subject, "kind"), text(subject, "name")
    if kind == "ServiceAccount":
        return f"service account {text(subject, 'namespace') or namespace}/{name}"
    return f"{kind.lower()} {name}"


def _rules(objects: Objects) -> dict[_Role, tuple[dict[str, Any], ...]]:
    return {
        _Role(key.kind, key.namespace, key.name): mappings(each.body, "rules")
        for key, each in objects.items()
        if key.kind in _ROLES
    }


def _by_subject(held: set[_Held]) -> dict[str, list[_Held]]:
    found: dict[str, list[_Held]] = defaultdict(list)
    for each in sorted(held):
        found[each.subject].append(each)
    return found


def _bound(held: list[_Held]) -> tuple[BoundRole, ...]:
    """Return each role once, with its namespaces; for the whole cluster it has a line of its own.

    Args:
        held: roles of one subject, sorted.
    """
    namespaces: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for each in held:
        namespaces[each.role.display, not each.namespace].append(each.namespace)
    return tuple(
        BoundRole(role, () if everywhere else tuple(where))
        for (role, everywhere), where in sorted(namespaces.items())
    )
