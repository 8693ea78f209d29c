"""Who approves changes of which profiles."""

from __future__ import annotations

import pytest

from tests.resolve.changes import CLUSTER, NLP, reported, resolved
from trainyard.model.owners import Owners

SETTINGS = "trainyard.yaml"


def owners_of(fields: dict[str, object]) -> Owners:
    platform, found = resolved({SETTINGS: {"owners": fields}})
    assert found == ()
    return platform.settings.owners


def test_files_without_owners_of_their_own_have_those_of_the_platform() -> None:
    """One line is enough for a platform that has one group of admins."""
    owners = owners_of({"platform": ["@org/b", "@org/a"], "waivers": ["@org/security"]})

    assert owners.of_kind("waivers") == ("@org/security",)
    assert owners.of_kind("runtimes") == owners.of_cluster("prod-east") == ("@org/a", "@org/b")


def test_cluster_has_its_own() -> None:
    owners = owners_of({"platform": ["@org/a"], "clusters": {"prod-east": ["@org/east"]}})

    assert owners.of_cluster("prod-east") == ("@org/east",)


def test_nobody_owns_anything_unless_it_is_stated() -> None:
    platform, _ = resolved({})

    assert platform.settings.owners == Owners()
    assert {team.owners for team in platform.teams} == {()}


def test_cluster_must_exist() -> None:
    """An owner of a misspelt cluster would own nothing."""
    fields = {"platform": ["@org/a"], "clusters": {"prod-west": ["@org/west"]}}
    platform, found = resolved({SETTINGS: {"owners": fields}})

    message = "there is no cluster `prod-west`"
    assert reported(found) == [(SETTINGS, "(owners/clusters/prod-west)", message)]
    assert platform.settings.owners.clusters == {}


@pytest.mark.parametrize("changes", [{NLP: {"state": "retired"}}, {CLUSTER: {}}])
def test_team_has_its_own(changes: dict[str, dict[str, object]]) -> None:
    """Those of a tombstone still approve what is done to it."""
    own = {"owners": ["@org/nlp-leads", "lead@example.com"]}
    platform, _ = resolved({**changes, NLP: {**changes.get(NLP, {}), **own}})

    (team,) = (each for each in platform.teams if each.name == "nlp")
    assert team.owners == ("@org/nlp-leads", "lead@example.com")
