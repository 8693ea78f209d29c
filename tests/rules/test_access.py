"""Subjects that must not get a role."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken, messages

NLP, CLUSTER = "teams/nlp.yaml", "clusters/prod-east.yaml"


@pytest.mark.parametrize(
    "group", ["system:authenticated", "system:serviceaccounts:team-vision", "cluster-admins"]
)
@pytest.mark.parametrize("role", ["operator", "auditor"])
def test_platform_roles_go_to_people_too(group: str, role: str) -> None:
    """The platform's own roles reach further than any team's."""
    assert broken({CLUSTER: {"roles": {role: [group]}}}) == {"access/system-subject"}


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
def test_account_is_the_teams_own(name: str, owner: str | None, breaks: bool) -> None:
    """What others make may get a role when its owner is named, but never what every pod or rank
    runs as."""
    account: dict[str, Any] = {"role": "user"} | ({"owner": owner} if owner else {})
    assert (
        bool(messages("access/shadowed-account", {NLP: {"serviceAccounts": {name: account}}}))
        is breaks
    )


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
def test_somebody_may_submit(change: dict[str, Any], breaks: bool) -> None:
    """An account is enough, and a team that is leaving needs nobody."""
    assert bool(messages("access/nobody-may-submit", {NLP: change})) is breaks
