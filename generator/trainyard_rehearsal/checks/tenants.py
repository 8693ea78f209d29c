"""Whether everybody may do what their role says and nothing else: as listed, then tried by real requests."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.attempts import IN_A_NAMESPACE, WIDE, Attempt, claim
from trainyard_rehearsal.checks.jobs import TRAINER
from trainyard_rehearsal.checks.roles import EVERYBODYS, Resource, cells, rights
from trainyard_rehearsal.control_plane.api import Api, Body, Refused, at_once
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_FORBIDDEN, _MISSING = 403, 404
_SIGNED_IN = "system:authenticated"


@dataclass(frozen=True, slots=True)
class Subject:
    """Somebody, as authentication would tell the API server.

    Args:
        display: as the reader knows them.
        held: (role, namespace that it is held in), no namespace for the whole cluster.
    """

    display: str
    user: str
    groups: tuple[str, ...]
    held: tuple[tuple[str, str], ...]
    at: Pointer

    def rights(self, namespace: str) -> set[tuple[str, Resource]]:
        """Return what their roles allow in a namespace, or in the whole cluster when none is said."""
        return {
            each for role, home in self.held if home in {"", namespace} for each in rights(role)
        }

    def places(self, site: Site) -> list[str]:
        """Return the namespaces to try them in: their own, another team's, and that of everybody's limits."""
        return list(
            dict.fromkeys([*self._homes, *self._foreign(site), site.cluster.system_namespace])
        )

    @property
    def _homes(self) -> list[str]:
        return [home for _, home in self.held if home]

    def _foreign(self, site: Site) -> list[str]:
        theirs = (tenant.spaces[0].namespace for tenant in site.tenants)
        return [name for name in theirs if name not in self._homes][:1]


def subjects(site: Site) -> list[Subject]:
    """Return everybody: each group and account that has a role, the ranks' account, and somebody who has none."""
    held: dict[tuple[str, str], list[tuple[str, str]]] = {}
    at = {}
    for space in (space for tenant in site.tenants for space in tenant.spaces):
        home = space.namespace
        members = [
            ("group", group, role) for role, groups in space.team.groups.items() for group in groups
        ]
        members += [("account", f"{home}:{each.name}", each.role) for each in space.team.accounts]
        for kind, name, role in members:
            held.setdefault((kind, name), []).extend([(role, home), ("catalog viewer", "")])
            at[kind, name] = space.team.at
        held["account", f"{home}:{names.JOB_ACCOUNT}"] = []
        at["account", f"{home}:{names.JOB_ACCOUNT}"] = space.team.at
    for role, groups in {
        "operator": site.cluster.operators,
        "auditor": site.cluster.auditors,
    }.items():
        for group in groups:
            held.setdefault(("group", group), []).append((role, ""))
    if cleanup := site.cluster.finished_jobs:
        homes = [space.namespace for tenant in site.tenants for space in tenant.spaces]
        held["account", f"{site.cluster.system_namespace}:{cleanup.name}"] = [
            ("clean-up", home) for home in homes
        ]
    held["group", "of-no-team"] = []
    return [
        _subject(kind, name, tuple(roles), at.get((kind, name), site.cluster.at))
        for (kind, name), roles in held.items()
    ]


def _subject(kind: str, name: str, held: tuple[tuple[str, str], ...], at: Pointer) -> Subject:
    roles = (
        ", ".join(dict.fromkeys(f"{role} of {home}" if home else role for role, home in held))
        or "no role"
    )
    if kind == "group":
        return Subject(f"group {name} ({roles})", f"somebody@{name}", (name, _SIGNED_IN), held, at)
    home = name.partition(":")[0]
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{home}", _SIGNED_IN)
    return Subject(f"account {name} ({roles})", f"system:serviceaccount:{name}", groups, held, at)


def check_tenants(
    lab: Lab, samples: Sequence[tuple[Sample, Manifest]], teams: Collection[str]
) -> Iterator[Outcome]:
    """Have the API server list what everybody may where; then make the requests that matter, as dry runs.

    Args:
        lab: with the tree applied, no job running.
        samples: jobs of every team.
        teams: names of those whose members are tried, and everybody who is in no team.
    """
    everybody = list(_members(lab.plan.site, teams))
    yield _cells(lab, everybody)
    yield _requests(lab, everybody, {manifest.namespace: manifest.body for _, manifest in samples})


def _members(site: Site, teams: Collection[str]) -> Iterator[Subject]:
    """Yield the members of some teams, and everybody who is in none."""
    homes = {space.namespace: tenant for tenant in site.tenants for space in tenant.spaces}
    places = {tenant.team.at for tenant in site.tenants}
    chosen = {tenant.team.at for tenant in site.tenants if tenant.name in teams}
    for who in subjects(site):
        of = {homes[home].team.at for _, home in who.held if home} | ({who.at} & places)
        if not of or of & chosen:
            yield who


def _cells(lab: Lab, everybody: Sequence[Subject]) -> Outcome:
    """Compare all that the API server lists with all that the roles say: nothing more, nothing less."""
    places = [(who, place) for who in everybody for place in who.places(lab.plan.site)]
    found = at_once(
        partial(_listed, lab.api.acting(who.user, who.groups), place) for who, place in places
    )
    tried, open_, failures = 0, 0, []
    for (who, place), listed in zip(places, found, strict=True):
        meant = who.rights(place)
        tried, open_ = tried + len(cells() | listed), open_ + len(meant)
        for verb, resource in sorted(listed ^ meant):
            words = f"the API server {'refuses' if (verb, resource) in meant else 'allows'} it"
            failures.append(
                Failure(f"{who.display}: {_told(verb, resource, place)}", words, who.at)
            )
    return counted(
        "tenant cells",
        tried,
        failures,
        f"{len(everybody)} groups and accounts; {open_} cells are open",
    )


def _listed(api: Api, namespace: str) -> set[tuple[str, Resource]]:
    """Return all rights that the API server lists for a user in a namespace, beside everybody's."""
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview"}
    status = api.create({**kind, "metadata": {}, "spec": {"namespace": namespace}}).body["status"]
    return {
        (verb, (group, name))
        for rule in status["resourceRules"]
        for group in rule.get("apiGroups", [])
        for name in rule.get("resources", [])
        for verb in rule["verbs"]
    } - EVERYBODYS


def _told(verb: str, resource: Resource, namespace: str) -> str:
    group, name = resource
    return f"{verb} {name}{f'.{group}' if group else ''}{f' in {namespace}' if namespace else ''}"


def _requests(lab: Lab, everybody: Sequence[Subject], jobs: Mapping[str, Body]) -> Outcome:
    made = [(who, *each) for who in everybody for each in _attempts(lab.plan.site, who, jobs)]
    words = at_once(partial(_surprise, lab.api, *each) for each in made)
    failures = [
        Failure(
            f"{who.display}: {_told(attempt.verb, attempt.resource(lab.api), place)}", said, who.at
        )
        for (who, attempt, place), said in zip(made, words, strict=True)
        if said
    ]
    return counted("tenant requests", len(made), failures, "dry runs, admission included")


def _attempts(site: Site, who: Subject, jobs: Mapping[str, Body]) -> Iterator[tuple[Attempt, str]]:
    """Yield requests and where they are made; a job is the place's own sample, where it has one."""
    classes = {
        space.namespace: space.claimable_classes
        for tenant in site.tenants
        for space in tenant.spaces
    }
    for place in who.places(site):
        if place in jobs:
            yield Attempt("create", TRAINER, "TrainJob", "", jobs[place]), place
        yield from ((claim(each), place) for each in classes.get(place, ("of-nobody",)))
        yield from ((attempt, place) for attempt in IN_A_NAMESPACE)
    yield from ((attempt, "") for attempt in WIDE)


def _surprise(api: Api, who: Subject, attempt: Attempt, place: str) -> str:
    """Return what the API server says, where it is not what the role says; what is not there was let through."""
    meant = (attempt.verb, attempt.resource(api)) in who.rights(place)
    try:
        attempt.send(api.acting(who.user, who.groups), place)
    except Refused as refused:
        return (
            ""
            if refused.status == (_MISSING if meant else _FORBIDDEN)
            else f"{refused.status}: {refused}"
        )
    return "" if meant else "let through"
