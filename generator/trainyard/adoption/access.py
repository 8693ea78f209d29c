"""Groups of a team, from the RoleBindings in its namespaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.adoption.model import Crew, Mark, Remark
from trainyard.model.facts import Body, Facts, place_of
from trainyard.model.importable import BINDINGS
from trainyard.model.lookup import mappings, text

_ROLES = {
    "admin": "admin",
    "edit": "user",
    "view": "viewer",
    "trainyard-team-admin": "admin",
    "trainyard-team-user": "user",
    "trainyard-team-viewer": "viewer",
}
"""Role of a team by the ClusterRole that is bound: Kubernetes' own, and those of the tree."""
_GROUP = re.compile(
    "[!#-&(-_a-~\u00a1-\uffff]([ !#-&(-_a-~\u00a1-\uffff]*[!#-&(-_a-~\u00a1-\uffff])?"
)
_SYSTEM = "system:"


@dataclass(frozen=True, slots=True)
class Access:
    """Who has which role in a team.

    Args:
        groups: by role.
        accounts: service accounts of the team's own namespace, by name, with their role.
    """

    groups: dict[str, list[str]]
    accounts: dict[str, str]


def access(crew: Crew, facts: Facts) -> Access:
    """Return the groups and accounts that have a role in a team's namespaces."""
    groups: dict[str, set[str]] = {}
    accounts: dict[str, str] = {}
    for body, subject in subjects(crew, facts):
        role = role_of(body)
        name = text(subject, "name")
        if role is None:
            continue
        if _is_group(subject):
            groups.setdefault(role, set()).add(name)
        elif _is_own_account(subject, crew):
            accounts.setdefault(name, role)
    return Access({role: sorted(groups[role]) for role in sorted(groups)}, accounts)


def remarks(crews: Sequence[Crew], facts: Facts) -> Iterator[Remark]:
    """Yield who loses a role."""
    for crew in crews:
        for body, subject in subjects(crew, facts):
            part = f"RoleBinding {'/'.join(place_of(body))}"
            named = f"{text(subject, 'kind')} {text(subject, 'name')}"
            if role_of(body) is None:
                role = text(body, "roleRef", "name")
                yield Remark(Mark.REFUSED, part, f"{named} loses role {role}: no team has it")
            elif subject.get("kind") == "User":
                yield Remark(Mark.REFUSED, part, f"{named}: make a group of the users")
            elif not (_is_group(subject) or _is_own_account(subject, crew)):
                yield Remark(Mark.REFUSED, part, f"{named} has no counterpart in a team")


def subjects(crew: Crew, facts: Facts) -> Iterator[tuple[Body, dict[str, object]]]:
    """Yield the subjects of the bindings in a team's namespaces, without Kubernetes' own."""
    for body in sorted(facts.of(BINDINGS), key=place_of):
        if place_of(body)[0] in crew.namespaces:
            for subject in mappings(dict(body), "subjects"):
                name = text(subject, "name")
                if name and not name.startswith(_SYSTEM):
                    yield body, subject


def role_of(body: Body) -> str | None:
    """Return the role of a team that comes nearest to what is bound; None for any other."""
    is_of_cluster = text(body, "roleRef", "kind") == "ClusterRole"
    return _ROLES.get(text(body, "roleRef", "name")) if is_of_cluster else None


def _is_group(subject: dict[str, object]) -> bool:
    name = text(subject, "name")
    return subject.get("kind") == "Group" and bool(_GROUP.fullmatch(name)) and len(name) <= 256


def _is_own_account(subject: dict[str, object], crew: Crew) -> bool:
    namespace = text(subject, "namespace")
    return subject.get("kind") == "ServiceAccount" and namespace == crew.namespaces[0]
