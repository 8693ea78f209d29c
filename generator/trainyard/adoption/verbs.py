"""List what people may do now, and no role of a team permits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.adoption.access import role_of, subjects
from trainyard.adoption.model import Crew, Mark, Remark
from trainyard.model.facts import Body, Facts, place_of
from trainyard.model.importable import ROLES
from trainyard.model.lookup import mappings, text
from trainyard.model.permissions import Permission, beyond, permissions
from trainyard.model.readable import ROLES as CLUSTER_ROLES

Rules = Sequence[Mapping[str, Any]]

_WRITES = ["create", "delete", "patch", "update"]
_MORE = frozenset({"bind", "escalate", "impersonate"})
_SUBRESOURCES = frozenset({"pods/exec", "pods/portforward"})
"""Those that matter: who may use one runs programs in a pod, or reaches its ports."""
_NO_MATTER = frozenset({"events", "leases", "localsubjectaccessreviews"})
_SERVED_BY_NONE = "extensions"
"""API group that Kubernetes' own roles still have; no API server has served it since 1.22."""
_SHORT = {
    "create, delete, get, patch, update ": "read and write ",
    "create, delete, patch, update ": "write ",
    "get ": "read ",
    " * of *": " everything",
}
_USER: Rules = (
    {"apiGroups": ["trainer.kubeflow.org"], "resources": ["trainjobs"], "verbs": _WRITES},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": _WRITES},
)
GIVEN: Mapping[str, Rules] = {
    "viewer": (),
    "user": _USER,
    "admin": (
        *_USER,
        {"apiGroups": [""], "resources": ["persistentvolumeclaims"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]},
    ),
}
"""What each role of a team may change, as in templates/platform/cluster-role-team-ROLE.yaml."""


def changes(role: str, rules: Iterable[Mapping[str, Any]]) -> frozenset[Permission]:
    """Return the permissions of rules that change something, or read a Secret.

    Raises:
        TreeError: a rule has too many permissions.
    """
    every = permissions(role, rules)
    return frozenset(each for one in every for each in _named(one) if _matters(each))


def _named(permission: Permission) -> Iterator[Permission]:
    """Yield a permission once for each verb that `*` means here."""
    verbs = (*_WRITES, "get") if permission.verb == "*" else (permission.verb,)
    yield from (permission._replace(verb=verb) for verb in verbs)


def _matters(permission: Permission) -> bool:
    resource = permission.resource
    if permission.group == _SERVED_BY_NONE:
        return False
    is_known = resource in _SUBRESOURCES or not ("/" in resource or resource in _NO_MATTER)
    is_secret = permission.verb == "get" and resource in {"secrets", "*"}
    return is_known and (permission.verb in {*_WRITES, *_MORE} or is_secret)


def lost_verbs(crews: Sequence[Crew], facts: Facts) -> Iterator[Remark]:
    """Yield what each subject may do in a team's namespaces, and the team's role does not permit.

    A binding in a namespace that keeps its name stays until somebody deletes it.
    """
    rules = {
        (kind.kind, *place_of(body)): mappings(dict(body), "rules")
        for kind in (ROLES, CLUSTER_ROLES)
        for body in facts.of(kind)
    }
    for crew in crews:
        for why, own in _lacks(crew, facts, rules).items():
            yield Remark(Mark.REFUSED, f"{', '.join(own)} in team {crew.name}", why)


def _lacks(
    crew: Crew, facts: Facts, rules: Mapping[tuple[str, str, str], Rules]
) -> dict[str, list[str]]:
    """Return the subjects of a team by what their roles of the team lack."""
    found: dict[str, list[str]] = defaultdict(list)
    for (subject, stays), bindings in _bound(crew, facts).items():
        roles = sorted({role for body in bindings if (role := role_of(body))})
        lacks = [*_unknown(bindings, rules), *_beyond(bindings, roles, rules)]
        if lacks:
            why = f"{_given(roles)} lacks: {'; '.join(lacks)}. {_end(bindings, stays=stays)}"
            found[why].append(subject)
    return found


def _bound(crew: Crew, facts: Facts) -> dict[tuple[str, bool], list[Body]]:
    """Return the bindings of each subject, those in namespaces that stay apart from others."""
    found: dict[tuple[str, bool], list[Body]] = defaultdict(list)
    for body, subject in subjects(crew, facts):
        namespace = place_of(body)[0]
        name = text(subject, "name")
        if subject.get("kind") == "ServiceAccount":
            name = f"{text(subject, 'namespace') or namespace}/{name}"
        stays = crew.kept(namespace) == namespace
        found[f"{text(subject, 'kind')} {name}", stays].append(body)
    return found


def _role(body: Body) -> tuple[str, str, str]:
    """Return kind, namespace and name of the role that is bound."""
    kind = text(body, "roleRef", "kind")
    namespace = place_of(body)[0] if kind == ROLES.kind else ""
    return kind, namespace, text(body, "roleRef", "name")


def _shown(role: tuple[str, str, str]) -> str:
    kind, namespace, name = role
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _unknown(
    bindings: Sequence[Body], rules: Mapping[tuple[str, str, str], Rules]
) -> Iterator[str]:
    for kind, _, name in sorted({_role(body) for body in bindings} - rules.keys()):
        if not name.startswith("trainyard-team-"):
            yield f"what {kind} {name} permits, which is not in the dump"


def _beyond(
    bindings: Sequence[Body],
    roles: Collection[str],
    rules: Mapping[tuple[str, str, str], Rules],
) -> Iterator[str]:
    had = [changes(_shown(role), rules.get(role, ())) for role in map(_role, bindings)]
    gets = [changes(role, GIVEN[role]) for role in roles]
    for line in beyond(frozenset().union(*had), frozenset().union(*gets)):
        shown = line
        for long, short in _SHORT.items():
            shown = shown.replace(long, short)
        yield shown


def _given(roles: Sequence[str]) -> str:
    return f"role {' and '.join(roles)} of the team" if roles else "the team, without a role,"


def _end(bindings: Sequence[Body], *, stays: bool) -> str:
    named = ", ".join(sorted({f"RoleBinding {'/'.join(place_of(body))}" for body in bindings}))
    if stays:
        return f"{named} stays with the namespace, and permits it until somebody deletes it"
    return f"{named} does not come along to the new namespace"
