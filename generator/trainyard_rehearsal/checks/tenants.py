"""Check that every user may do what their roles permit, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard.model.manifest import Manifest
from trainyard.model.people import SIGNED_IN, acting_as, described
from trainyard.model.platform import Site
from trainyard.model.space import Sample, Space
from trainyard_rehearsal.checks.access_requests import (
    CLUSTER_WIDE,
    IN_NAMESPACES,
    AccessRequest,
    claim,
)
from trainyard_rehearsal.checks.jobs import TRAINER
from trainyard_rehearsal.checks.request_cases import at_once
from trainyard_rehearsal.checks.roles import (
    AUTHENTICATED_RIGHTS,
    GroupResource,
    rights,
    tried_rights,
)
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_FORBIDDEN, _MISSING = 403, 404

_Right = tuple[str, GroupResource]
_Role = tuple[str, str]
"""A role, and the namespace that it applies to; empty for the whole cluster."""
_Key = tuple[str, str]
"""``group`` or ``account``, and its name."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A user as the API server sees one after authentication.

    Args:
        display: the group or account with its roles, for messages.
        roles: each with the namespace that it applies to; empty for the whole cluster.
        cluster: the cluster.
    """

    display: str
    user: str
    groups: tuple[str, ...]
    roles: tuple[_Role, ...]
    at: Pointer
    cluster: Cluster

    def rights(self, namespace: str) -> set[_Right]:
        """Return what the roles permit in a namespace; in the whole cluster for an empty name."""
        found: set[_Right] = set()
        for role, home in self.roles:
            if home in {"", namespace}:
                found |= rights(
                    role,
                    fabrics=bool(self.cluster.rail_fabrics),
                    logs=self.cluster.stores_logs,
                    metrics=self.cluster.shows_metrics_by_namespace,
                )
        return found

    def namespaces(self, site: Site) -> list[str]:
        """Return the namespaces to try: the subject's own, another team's, and the system's."""
        return list(
            dict.fromkeys([*self._homes, *self._foreign(site), site.cluster.system_namespace])
        )

    @property
    def _homes(self) -> list[str]:
        return [home for _, home in self.roles if home]

    def _foreign(self, site: Site) -> list[str]:
        first = (tenant.spaces[0].namespace for tenant in site.tenants)
        return [name for name in first if name not in self._homes][:1]


def subjects(site: Site) -> list[Subject]:
    """Return the groups and accounts with a role, the accounts of ranks, and a group without."""
    roles: dict[_Key, list[_Role]] = {}
    at: dict[_Key, Pointer] = {}
    spaces = _spaces(site)
    for space in spaces:
        for key, held in _members(space):
            roles.setdefault(key, []).extend(held)
            at[key] = space.team.at
    for group, role in _cluster_groups(site):
        roles.setdefault(("group", group), []).append((role, ""))
    if cleanup := site.cluster.finished_jobs:
        account = ("account", f"{site.cluster.system_namespace}:{cleanup.name}")
        roles[account] = [("clean-up", space.namespace) for space in spaces]
    roles["group", "of-no-team"] = []
    cluster = site.cluster
    return [
        _subject(key, tuple(held), at.get(key, cluster.at), cluster) for key, held in roles.items()
    ]


def _spaces(site: Site) -> list[Space]:
    return [space for tenant in site.tenants for space in tenant.spaces]


def _members(space: Space) -> Iterator[tuple[_Key, list[_Role]]]:
    """Yield the groups and accounts of a namespace with their roles; its ranks have none."""
    home = space.namespace
    for role, groups in space.team.groups.items():
        for group in groups:
            yield ("group", group), _held(space, role)
    for group in space.team.debuggers.groups if space.team.debuggers else ():
        yield ("group", group), [("debugger", home)]
    for account in space.team.accounts:
        yield ("account", f"{home}:{account.name}"), _held(space, account.role)
    yield ("account", f"{home}:{names.JOB_ACCOUNT}"), []


def _held(space: Space, role: str) -> list[_Role]:
    """Return the roles of who has a role in a team's profile."""
    home, held = space.namespace, [role]
    if role == "admin" and space.team.own_runtimes:
        held.append("runtimes")
    if space.mpi_jobs:
        held.append("mpijob viewer" if role == "viewer" else "mpijob user")
    return [*((each, home) for each in held), ("catalog viewer", "")]


def _cluster_groups(site: Site) -> Iterator[tuple[str, str]]:
    """Yield the groups with a role in the whole cluster, once for each role."""
    yield from ((group, "operator") for group in site.cluster.operators)
    yield from ((group, "auditor") for group in site.cluster.auditors)
    if site.mpi_spaces:
        yield from ((group, "mpijob operator") for group in site.cluster.operators)
        yield from ((group, "mpijob viewer") for group in site.cluster.auditors)


def _subject(key: _Key, roles: tuple[_Role, ...], at: Pointer, cluster: Cluster) -> Subject:
    kind, name = key
    held = dict.fromkeys(f"{role} of {home}" if home else role for role, home in roles)
    who = f"account {name}" if kind == "account" else described(name)
    display = f"{who} ({', '.join(held) or 'no role'})"
    if kind == "group":
        return Subject(display, *acting_as(name), roles, at, cluster)
    home = name.partition(":")[0]
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{home}", SIGNED_IN)
    return Subject(display, f"system:serviceaccount:{name}", groups, roles, at, cluster)


def check_tenants(
    lab: Lab, samples: Sequence[tuple[Sample, Manifest]], teams: Collection[str]
) -> Iterator[Outcome]:
    """Compare the roles with the rights that the API server lists, then with its answers.

    Args:
        lab: with the tree applied, no job running.
        samples: jobs of every team.
        teams: names of those whose members are tried, besides every subject of no team.
    """
    tried = list(_subjects_of(lab.plan.site, teams))
    yield _check_rights(lab, tried)
    jobs = {manifest.namespace: manifest.body for _, manifest in samples}
    yield _check_requests(lab, tried, jobs)


def _subjects_of(site: Site, teams: Collection[str]) -> Iterator[Subject]:
    """Yield the subjects of some teams, and those of no team."""
    chosen = {tenant.team.at for tenant in site.tenants if tenant.name in teams}
    for subject in subjects(site):
        of = _teams_of(subject, site)
        if not of or of & chosen:
            yield subject


def _teams_of(subject: Subject, site: Site) -> set[Pointer]:
    """Return the places of the teams that a subject has a role in, or is an account of."""
    homes = {home for _, home in subject.roles}
    found = set()
    for tenant in site.tenants:
        has_role = any(space.namespace in homes for space in tenant.spaces)
        if has_role or subject.at == tenant.team.at:
            found.add(tenant.team.at)
    return found


def _check_rights(lab: Lab, tried: Sequence[Subject]) -> Outcome:
    """Compare all rights that the API server lists with all rights of the roles."""
    places = [
        (subject, namespace) for subject in tried for namespace in subject.namespaces(lab.plan.site)
    ]
    listed = at_once(
        partial(_listed_rights, lab.api.acting(subject.user, subject.groups), namespace)
        for subject, namespace in places
    )
    total, permitted = 0, 0
    failures: list[Failure] = []
    for (subject, namespace), found in zip(places, listed, strict=True):
        expected = subject.rights(namespace)
        total += len(tried_rights() | found | expected)
        permitted += len(expected)
        for verb, resource in sorted(found ^ expected):
            does = "refuses" if (verb, resource) in expected else "allows"
            what = f"{subject.display}: {_describe(verb, resource, namespace)}"
            failures.append(Failure(what, f"the API server {does} it", subject.at))
    remark = f"{len(tried)} groups and accounts; {permitted} of the rights are permitted"
    return counted("permissions match the roles", total, failures, remark)


def _listed_rights(api: Api, namespace: str) -> set[_Right]:
    """Return the rights that the API server lists for a user, except those of every user."""
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview"}
    status = api.create({**kind, "metadata": {}, "spec": {"namespace": namespace}}).body["status"]
    listed: set[_Right] = set()
    for rule in status["resourceRules"]:
        groups, resources = rule.get("apiGroups", []), rule.get("resources", [])
        for verb, group, name in product(rule["verbs"], groups, resources):
            listed.add((verb, (group, name)))
    return listed - AUTHENTICATED_RIGHTS


def _describe(verb: str, resource: GroupResource, namespace: str) -> str:
    group, name = resource
    return f"{verb} {name}{f'.{group}' if group else ''}{f' in {namespace}' if namespace else ''}"


def _check_requests(lab: Lab, tried: Sequence[Subject], jobs: Mapping[str, Body]) -> Outcome:
    """Send real requests as dry runs, and compare the answers with the roles."""
    sent = [
        (subject, request, namespace)
        for subject in tried
        for request, namespace in _requests(lab.plan.site, subject, jobs)
    ]
    answers = at_once(partial(_unexpected_answer, lab.api, *each) for each in sent)
    failures = []
    for (subject, request, namespace), answer in zip(sent, answers, strict=True):
        if answer:
            description = _describe(request.verb, request.resource(lab.api), namespace)
            failures.append(Failure(f"{subject.display}: {description}", answer, subject.at))
    return counted("requests match the roles", len(sent), failures, "dry runs, admission included")


def _requests(
    site: Site, subject: Subject, jobs: Mapping[str, Body]
) -> Iterator[tuple[AccessRequest, str]]:
    """Yield requests with their namespaces; a job is the namespace's own sample, if it has one."""
    classes = _claimable_classes(site)
    for namespace in subject.namespaces(site):
        if namespace in jobs:
            yield AccessRequest("create", TRAINER, "TrainJob", "", jobs[namespace]), namespace
        for storage_class in classes.get(namespace, ("of-nobody",)):
            yield claim(storage_class), namespace
        for request in IN_NAMESPACES:
            yield request, namespace
    for request in CLUSTER_WIDE:
        yield request, ""


def _claimable_classes(site: Site) -> dict[str, Sequence[str]]:
    """Return the storage classes that claims of each namespace may use."""
    return {space.namespace: space.claimable_classes for space in _spaces(site)}


def _unexpected_answer(api: Api, subject: Subject, request: AccessRequest, namespace: str) -> str:
    """Return the API server's answer if it contradicts the roles; empty if it agrees.

    A request for an object that does not exist was permitted.
    """
    is_permitted = (request.verb, request.resource(api)) in subject.rights(namespace)
    try:
        request.send(api.acting(subject.user, subject.groups), namespace)
    except Refused as refused:
        if refused.status == (_MISSING if is_permitted else _FORBIDDEN):
            return ""
        return f"{refused.status}: {refused}"
    return "" if is_permitted else "let through"
