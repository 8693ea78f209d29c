"""Groups and service accounts that must not have a role."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken, findings, messages

NLP, CLUSTER = "teams/nlp.yaml", "clusters/prod-east.yaml"


@pytest.mark.parametrize(
    "group", ["system:authenticated", "system:serviceaccounts:team-vision", "cluster-admins"]
)
@pytest.mark.parametrize("role", ["operator", "auditor"])
def test_roles_of_a_cluster_go_only_to_groups_of_people(group: str, role: str) -> None:
    """Roles of a cluster give more rights than those of a team."""
    assert "access/system-subject" in broken({CLUSTER: {"roles": {role: [group]}}})


@pytest.mark.parametrize("name", ["system:admin", "kube:admin", "system:serviceaccount:a:b"])
def test_users_of_the_platform_have_no_role(name: str) -> None:
    found = messages("access/system-subject", {NLP: {"groups": {"viewer": [f"User:{name}"]}}})

    assert found == [f"user `{name}` has the role viewer, but belongs to the platform itself"]


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ("user:alice", "did you mean `User:alice`?"),
        ("Users:alice", "did you mean `User:alice`?"),
        ("User:User:alice", "did you mean `User:alice`?"),
        ("GROUP:/ml/nlp", "did you mean `/ml/nlp`?"),
        ("ServiceAccount:team-nlp:ci", ""),
        ("User:alice", None),
        ("/ml/user:alice", None),
        ("oidc:user:alice", None),
    ],
)
def test_kind_in_a_name_is_a_mistake(entry: str, hint: str | None) -> None:
    """Where what is meant can be said in a list of groups, the help has it."""
    hints = [
        each.hint
        for each in findings({CLUSTER: {"roles": {"auditor": [entry]}}})
        if each.rule == "access/kind-in-a-name"
    ]
    assert len(hints) == (hint is not None)
    assert all(each == hint if hint else "serviceAccounts" in each for each in hints)


def test_a_user_and_a_group_of_one_name_are_two() -> None:
    """A role of each is not a conflict."""
    groups = {"user": ["alice"], "viewer": ["User:alice"]}
    assert messages("access/group-in-two-roles", {NLP: {"groups": groups}}) == []

    groups = {"user": ["User:alice"], "viewer": ["User:alice"]}
    assert messages("access/group-in-two-roles", {NLP: {"groups": groups}}) == [
        "user `alice` has two roles in team nlp: user, viewer"
    ]


@pytest.mark.parametrize(
    ("name", "owner", "breaks"),
    [
        ("default", None, True),
        ("default", "OpenShift", True),
        ("trainer", None, True),
        ("trainer", "nobody else", True),
        ("builder", None, True),
        ("builder", "OpenShift", False),
        ("deployer", None, True),
        ("pipeline", "OpenShift Pipelines", False),
        ("ci-runner", None, False),
        ("workbench", "OpenShift AI", False),
    ],
)
def test_account_of_the_platform_needs_an_owner(name: str, owner: str | None, breaks: bool) -> None:
    """The account that every pod or rank runs as may not have a role even with an owner."""
    account: dict[str, Any] = {"role": "user"} | ({"owner": owner} if owner else {})
    found = messages("access/shadowed-account", {NLP: {"serviceAccounts": {name: account}}})

    assert bool(found) is breaks


@pytest.mark.parametrize(
    ("change", "breaks"),
    [
        ({"groups": {"admin": None, "user": None}, "serviceAccounts": None}, True),
        ({"groups": {"admin": None, "user": None}}, False),
        ({"groups": {"user": None}, "serviceAccounts": None}, False),
        (
            {"groups": {"admin": None, "user": None}, "serviceAccounts": None, "state": "draining"},
            False,
        ),
    ],
)
def test_active_team_needs_a_group_or_an_account_that_submits(
    change: dict[str, Any], breaks: bool
) -> None:
    """A service account is enough, and a draining team needs none."""
    assert bool(messages("access/nobody-may-submit", {NLP: change})) is breaks
