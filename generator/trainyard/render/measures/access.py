"""Access control: the bindings that give the team's subjects, and others, a role."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import TypeAlias

from trainyard.model import names
from trainyard.model.identity import team_of
from trainyard.model.manifest import Manifest
from trainyard.model.tenant import Tenant
from trainyard.render.measures.answer import Answer, SiteObjects, listed

_SUBJECTS = {"Group": "groups", "ServiceAccount": "service accounts", "User": "users"}

Subject: TypeAlias = tuple[str, str, str]
"""Kind, name and namespace."""


def access(tenant: Tenant, place: SiteObjects) -> Answer:
    """Answer with the bindings in the team's namespaces, and those in the whole cluster."""
    bound = place.own(tenant, "RoleBinding")
    bindings = [binding for binding in bound if _role(binding) != names.FINISHED_JOBS_ROLE]
    team = frozenset(chain.from_iterable(map(_subjects, bindings)))
    wide = [
        binding
        for binding in place.of("ClusterRoleBinding")
        if binding.unit == "platform" and team_of(binding) in {"", tenant.name}
    ]
    how = f"the team's {_kinds(team)} have roles in its own namespaces: {_roles(bindings)}"
    how += _in_whole_cluster(wide, team)
    if len(bound) > len(bindings):
        how += f"; the platform's account {names.FINISHED_JOBS} lists and deletes TrainJobs there"
    roles = place.of("ClusterRole", set(map(_role, (*bound, *wide))))
    return Answer(how, [*roles, *wide, *bound])


def _in_whole_cluster(bindings: Sequence[Manifest], team: Collection[Subject]) -> str:
    """Return the roles in the whole cluster, those of the team and those of others."""
    own: list[Manifest] = []
    others: list[Manifest] = []
    for binding in bindings:
        is_of_team = not set(team).isdisjoint(_subjects(binding))
        (own if is_of_team else others).append(binding)
    how = f"; and in the whole cluster: {_roles(own)}" if own else ""
    if others:
        people = _kinds(chain.from_iterable(map(_subjects, others)))
        how += f"; the platform's {people} have roles in every namespace: {_roles(others)}"
    return how


def _kinds(subjects: Iterable[Subject]) -> str:
    """Return what subjects are, e.g. ``groups and service accounts``."""
    return " and ".join(sorted({_SUBJECTS[kind] for kind, _, _ in subjects}))


def _subjects(binding: Manifest) -> list[Subject]:
    return [
        (subject["kind"], subject["name"], subject.get("namespace", ""))
        for subject in binding.body["subjects"]
    ]


def _role(binding: Manifest) -> str:
    return str(binding.body["roleRef"]["name"])


def _roles(bindings: Sequence[Manifest]) -> str:
    return listed(map(_role, bindings))
