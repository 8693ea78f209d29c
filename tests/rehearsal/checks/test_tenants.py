"""Subjects with their rights, and an API server that does not enforce the roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from trainyard.model.platform import Site
from trainyard.model.team import MpiJobs
from trainyard_rehearsal.checks import tenants
from trainyard_rehearsal.checks.roles import GroupResource, rights
from trainyard_rehearsal.checks.tenants import Subject, check_tenants, subjects
from trainyard_rehearsal.control_plane.api import Answer, Api, Body
from trainyard_rehearsal.control_plane.api import Resource as Served
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Outcome

_PLURALS = {
    "NetworkPolicy": "networkpolicies",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
}


@dataclass
class Authorizer:
    """An API server that knows nothing but rights: those of the roles, and some more or less.

    Args:
        more, less: by user and namespace.
    """

    everybody: dict[str, Subject]
    user: str = ""
    more: dict[tuple[str, str], set[tuple[str, GroupResource]]] = field(default_factory=dict)
    less: dict[tuple[str, str], set[tuple[str, GroupResource]]] = field(default_factory=dict)

    def acting(self, user: str, _groups: Sequence[str]) -> Authorizer:
        return replace(self, user=user)

    def resource(self, _version: str, kind: str) -> Served:
        return Served("", _PLURALS.get(kind, f"{kind.lower()}s"), namespaced=True)

    def rights(self, user: str, namespace: str) -> set[tuple[str, GroupResource]]:
        key = (user, namespace)
        return (self.everybody[user].rights(namespace) | self.more.get(key, set())) - self.less.get(
            key, set()
        )

    def create(self, body: Body, part: str = "", **_: Any) -> Answer:
        if body["kind"] != "SelfSubjectRulesReview":
            return self._judge("create", body, part)
        rules = [
            {"verbs": [verb], "apiGroups": [group], "resources": [name]}
            for verb, (group, name) in self.rights(self.user, body["spec"]["namespace"])
        ]
        return Answer({"status": {"resourceRules": rules}}, ())

    def patch(self, body: Body, _change: Body, part: str = "", **_: Any) -> Answer:
        return self._judge("patch", body, part)

    def delete(self, body: Body, **_: Any) -> None:
        self._judge("delete", body, "")

    def get(self, version: str, kind: str, name: str, namespace: str = "") -> Body:
        metadata = {"name": name, "namespace": namespace}
        return self._judge(
            "get", {"apiVersion": version, "kind": kind, "metadata": metadata}, ""
        ).body

    def list(self, version: str, kind: str, namespace: str = "") -> list[Body]:
        metadata = {"namespace": namespace}
        return [
            self._judge(
                "list", {"apiVersion": version, "kind": kind, "metadata": metadata}, ""
            ).body
        ]

    def _judge(self, verb: str, body: Body, part: str) -> Answer:
        group = body["apiVersion"].rpartition("/")[0]
        plural = self.resource("", body["kind"]).plural
        cell = (verb, (group, f"{plural}/{part}" if part else plural))
        if cell not in self.rights(self.user, body["metadata"].get("namespace", "")):
            raise Refused(403, "forbidden")
        return Answer(body, ())


@pytest.fixture
def site(sites: dict[str, Site]) -> Site:
    """Return the cluster with the most teams."""
    return sites["lab"]


@pytest.fixture
def authorizer(site: Site) -> Authorizer:
    """Return an API server that enforces the roles."""
    return Authorizer({each.user: each for each in subjects(site)})


def _checked(lab: Lab, authorizer: Authorizer) -> dict[str, Outcome]:
    teams = {tenant.name for tenant in lab.plan.site.tenants}
    return {
        each.promise: each
        for each in check_tenants(replace(lab, api=cast("Api", authorizer)), [], teams)
    }


def test_roles_apply_in_own_namespace_and_catalog_everywhere(site: Site) -> None:
    space = site.tenants[0].spaces[0]
    group = space.team.groups["user"][0]
    member = next(each for each in subjects(site) if each.groups[0] == group)
    in_own = rights("user", logs=False, metrics=False) | rights("catalog viewer")
    assert member.rights(space.namespace) == in_own
    assert member.rights("team-of-others") == rights("catalog viewer")


def test_roles_of_mpi_jobs_are_those_of_a_team_with_the_field(site: Site) -> None:
    """The platform's operators and auditors have theirs while there is such a team."""
    cluster = replace(site.cluster, operators=("ops",), auditors=("audit",))
    tenant = site.tenants[0]
    team = replace(tenant.team, mpi_jobs={site.name: MpiJobs(tenant.team.at, "2027-01-31")})
    spaces = tuple(replace(each, team=team) for each in tenant.spaces)
    moving = replace(tenant, team=team, spaces=spaces)
    during = replace(site, cluster=cluster, tenants=(moving, *site.tenants[1:]))

    roles = {role for each in subjects(during) for role in each.roles if "mpijob" in role[0]}
    assert roles == {
        *(("mpijob user", space.namespace) for space in spaces),
        *(("mpijob viewer", space.namespace) for space in spaces if "viewer" in team.groups),
        ("mpijob operator", ""),
        ("mpijob viewer", ""),
    }
    before = replace(during, tenants=site.tenants)
    assert not {each.display for each in subjects(before) if "mpijob" in each.display}


def test_ranks_and_strangers_have_no_rights(site: Site) -> None:
    nobody = [each for each in subjects(site) if "no role" in each.display]
    spaces = [space for tenant in site.tenants for space in tenant.spaces]
    assert len(nobody) == len(spaces) + 1
    assert not any(each.rights(space.namespace) for each in nobody for space in spaces)


def test_server_that_enforces_the_roles_has_no_failure(lab: Lab, authorizer: Authorizer) -> None:
    assert all(outcome.fine for outcome in _checked(lab, authorizer).values())


def test_additional_and_missing_rights_are_reported(
    lab: Lab, site: Site, authorizer: Authorizer
) -> None:
    space = site.tenants[0].spaces[0]
    member = next(each for each in subjects(site) if ("user", space.namespace) in each.roles)
    authorizer.more[member.user, space.namespace] = {("list", ("", "secrets"))}
    authorizer.less[member.user, space.namespace] = {
        ("delete", ("trainer.kubeflow.org", "trainjobs"))
    }
    reported = {
        promise: [(failure.what, failure.words) for failure in outcome.failures]
        for promise, outcome in _checked(lab, authorizer).items()
    }
    here = f"in {space.namespace}"
    assert reported == {
        "permissions match the roles": [
            (
                f"{member.display}: delete trainjobs.trainer.kubeflow.org {here}",
                "the API server refuses it",
            ),
            (f"{member.display}: list secrets {here}", "the API server allows it"),
        ],
        "requests match the roles": [
            (f"{member.display}: list secrets {here}", "let through"),
            (f"{member.display}: delete trainjobs.trainer.kubeflow.org {here}", "403: forbidden"),
        ],
    }


def test_subjects_of_some_teams_are_tried_with_those_of_no_team(site: Site) -> None:
    """The accounts of the teams' ranks are among them."""
    first, *others = site.tenants
    every = {subject.user for subject in subjects(site)}
    tried = _users(site, first.name)
    left_out = _users(site, *(tenant.name for tenant in others))
    ranks = {f"system:serviceaccount:{space.namespace}:trainer" for space in first.spaces}
    of_no_team = {"of-no-team", *site.cluster.operators}

    assert tried | left_out == every
    assert ranks <= tried - left_out
    assert {f"somebody@{group}" for group in of_no_team} <= tried & left_out


def test_subjects_of_all_teams_are_all_subjects(site: Site) -> None:
    every = {subject.user for subject in subjects(site)}
    assert _users(site, *(tenant.name for tenant in site.tenants)) == every


def _users(site: Site, *teams: str) -> set[str]:
    return {subject.user for subject in tenants._subjects_of(site, teams)}


def test_group_of_two_teams_is_tried_with_either_team(site: Site) -> None:
    """It is tried with its rights in both teams."""
    one, two = (tenant.name for tenant in site.tenants[:2])
    team = replace(site.tenants[1].team, groups=site.tenants[0].team.groups)
    spaces = tuple(replace(space, team=team) for space in site.tenants[1].spaces)
    both = replace(
        site,
        tenants=(
            site.tenants[0],
            replace(site.tenants[1], team=team, spaces=spaces),
            *site.tenants[2:],
        ),
    )
    group = next(iter(team.groups.values()))[0]

    for name in (one, two):
        (who,) = (each for each in tenants._subjects_of(both, {name}) if each.groups[0] == group)
        assert len({home for _, home in who.roles if home}) >= 2
