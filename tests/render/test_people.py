"""Groups and users as subjects of bindings, in what is audited and in evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.cases import changed, messages, platform_of
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard.render.views.site import SiteView
from trainyard.schema.check import check_profiles

CLUSTER, NLP = "clusters/prod-east.yaml", "teams/nlp.yaml"
NAMES = [
    "/ml/nlp",
    "CN=ML nlp,OU=Groups,DC=example,DC=com",
    "Data Science  (Berlin)",
    "CORP\\ml-nlp",
    "oidc:Künstliche Intelligenz",
    "R&D",
]


def site(changes: dict[str, Any]) -> Site:
    (found,) = platform_of(changes).sites
    return found


def subjects(changes: dict[str, Any], name: str, namespace: str) -> list[tuple[str, str]]:
    """Return kind and name of each subject of a binding."""
    (binding,) = (
        each.body
        for each in render_site(site(changes))
        if each.body["kind"].endswith("RoleBinding")
        and (each.name, each.namespace) == (name, namespace)
    )
    return [(each["kind"], each["name"]) for each in binding["subjects"]]


@pytest.mark.parametrize("name", NAMES)
def test_group_is_bound_by_the_name_of_its_identity_provider(name: str) -> None:
    """To the character, also in the whole cluster."""
    changes = {CLUSTER: {"roles": {"auditor": [name]}}, NLP: {"groups": {"viewer": [name]}}}

    assert subjects(changes, "viewer", "team-nlp") == [("Group", name)]
    assert subjects(changes, "trainyard-auditor", "") == [("Group", name)]
    assert ("Group", name) in subjects(changes, "trainyard-catalog-viewer-nlp", "")


def test_each_team_reads_the_catalog_by_a_binding_of_its_own() -> None:
    """Two pull requests on two teams then edit two files."""
    nlp, vision = (
        {name for _, name in subjects({}, f"trainyard-catalog-viewer-{team}", "")}
        for team in ("nlp", "vision")
    )

    assert {"nlp", "ci-runner"} <= nlp
    assert "vision" in vision
    assert not nlp & {"vision", "vision-leads"}


def test_user_is_bound_as_a_user() -> None:
    changes = {NLP: {"groups": {"user": ["nlp", "User:alice@example.com"]}}}

    assert subjects(changes, "user", "team-nlp") == [
        ("User", "alice@example.com"),
        ("Group", "nlp"),
        ("ServiceAccount", "ci-runner"),
    ]


@pytest.mark.parametrize(
    ("operators", "profile"),
    [
        (["CORP\\a  b"], {"group": "CORP\\a  b", "profile": "WriteRequestBodies"}),
        (["CORP\\a  b", "User:alice"], None),
    ],
)
def test_what_operators_write_is_recorded(operators: list[str], profile: object) -> None:
    """OpenShift has rules for groups only, so a user's are those of the whole cluster."""
    view = SiteView(site({CLUSTER: {"roles": {"operator": operators}}}))
    audit = json.loads(view.audit_profile)["spec"]["audit"]

    if profile:
        assert audit == {"profile": "Default", "customRules": [profile]}
    else:
        assert audit == {"profile": "WriteRequestBodies"}
    assert view.records_all_writes is (profile is None)


@pytest.mark.parametrize("name", ["", " nlp", "nlp ", "O'Brien", 'a"b', "a`b", "x" * 257])
def test_name_that_would_break_a_command_is_refused(name: str) -> None:
    """The cluster's README has names of groups between quotes."""
    (found,) = check_profiles(changed({NLP: {"groups": {"viewer": [name]}}}))

    assert found.at.path == ("groups", "viewer", 0)


def test_group_that_is_a_user_is_not_a_group() -> None:
    """Roles of the user alice are not roles of a group with this name."""
    changes = {
        CLUSTER: {"roles": {"auditor": ["User:alice"]}},
        NLP: {"groups": {"viewer": ["alice"]}},
    }
    assert messages("access/team-group-runs-platform", changes) == []
    changes[NLP] = {"groups": {"viewer": ["User:alice"]}}
    assert messages("access/team-group-runs-platform", changes) == [
        "user `alice` is auditor of cluster prod-east and viewer of team nlp"
    ]
