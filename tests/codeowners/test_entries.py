"""The entries, read again by the rule of the last match."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.codeowners.matching import owners_of
from tests.resolve.changes import resolved
from trainyard.codeowners.block import block
from trainyard.codeowners.entries import Layout, entries
from trainyard.model.owners import Owners
from trainyard.model.platform import Platform

LAYOUT = Layout("profiles", "overlays", ".github/CODEOWNERS")
TEAMS = ("nlp", "vision")
KINDS = ("hardware", "compliance", "runtimes", "components")
BASE = resolved({})[0]

people = st.lists(
    st.sampled_from([f"@org/{name}" for name in "abcdef"]), max_size=3, unique=True
).map(lambda names: tuple(sorted(names)))
some = people.filter(bool)


@st.composite
def platforms(draw: st.DrawFn) -> Platform:
    kinds = st.dictionaries(
        st.sampled_from([*KINDS, "allocations", "waivers", "workflows"]), some, max_size=7
    )
    stated = Owners(
        draw(some), draw(kinds), draw(st.dictionaries(st.just("prod-east"), some, max_size=1))
    )
    teams = tuple(replace(team, owners=draw(people)) for team in BASE.teams)
    return replace(BASE, settings=replace(BASE.settings, owners=stated), teams=teams)


def expected(platform: Platform) -> dict[str, tuple[str, ...]]:
    """Return the owners of a file of each kind, from the meaning of the profiles' keys."""
    owners = platform.settings.owners
    special = {f"profiles/{kind}/x/y.yaml": owners.of_kind(kind) for kind in KINDS}
    for team in platform.teams:
        own, east = team.owners or owners.platform, team.owners or owners.of_cluster("prod-east")
        special[f"profiles/teams/{team.name}.yaml"] = own
        special[f"overlays/lab/teams/{team.name}/namespace.yaml"] = own
        special[f"overlays/prod-east/teams/{team.name}/namespace.yaml"] = east
    return special | {
        "profiles/clusters/lab.yaml": owners.platform,
        "profiles/clusters/prod-east.yaml": owners.of_cluster("prod-east"),
        "profiles/teams/other.yaml": owners.platform,
        "profiles/trainyard.yaml": owners.platform,
        "profiles/allocations.yaml": owners.of_kind("allocations"),
        "profiles/waivers.yaml": owners.of_kind("waivers"),
        "overlays/prod-east/platform/clusterqueue.yaml": owners.of_cluster("prod-east"),
        "overlays/prod-east/trainyard.lock": owners.platform,
        "overlays/lab/trainyard.lock": owners.platform,
        ".gitmodules": owners.of_kind("workflows"),
        ".gitattributes": owners.of_kind("workflows"),
        ".pre-commit-config.yaml": owners.of_kind("workflows"),
        ".github/CODEOWNERS": owners.platform,
        ".gitlab/CODEOWNERS": owners.platform,
        "CODEOWNERS": owners.platform,
        "docs/CODEOWNERS": owners.platform,
        "docs/README.md": (),
        ".github/workflows/trainyard.yaml": owners.of_kind("workflows"),
        ".gitlab-ci.yml": owners.of_kind("workflows"),
        ".tekton/trainyard.yaml": owners.of_kind("workflows"),
        "README.md": (),
        "other/profiles/waivers.yaml": (),
    }


@given(platforms())
def test_each_file_has_the_owners_that_the_profiles_state(platform: Platform) -> None:
    """Guards win over clusters and teams, teams over clusters, clusters over the platform."""
    text = block(entries(platform, LAYOUT))

    assert {path: owners_of(text, path) for path in expected(platform)} == expected(platform)


@given(platforms())
def test_sorting_the_lines_would_change_owners(platform: Platform) -> None:
    """The order is a part of the meaning: the matcher of this test sees a wrong one."""
    owners = platform.settings.owners
    lines = [f"{each.pattern} {' '.join(each.owners)}" for each in entries(platform, LAYOUT)]
    backwards = "\n".join(reversed(lines))

    assert owners_of(backwards, "profiles/waivers.yaml") == owners.platform


@given(st.text(st.characters(exclude_characters="/\n\0", exclude_categories=["Cs"]), min_size=1))
def test_folder_of_any_name_is_matched(name: str) -> None:
    """A character with a meaning of its own never loses the owners of a file."""
    platform = replace(
        BASE, settings=replace(BASE.settings, owners=Owners(platform=("@org/admins",)))
    )
    written = tuple(entries(platform, replace(LAYOUT, profiles=f"{name}/profiles")))
    text = block(written)

    assert owners_of(text, f"{name}/profiles/waivers.yaml") == ("@org/admins",)
    assert [each for each in written if re.search(r"[\s!\\\[\]#]", each.pattern)] == []


def test_team_alone_has_owners() -> None:
    """Without owners of the platform nothing else is claimed."""
    platform, _ = resolved({"teams/nlp.yaml": {"owners": ["@org/nlp"]}})

    assert [each.pattern for each in entries(platform, LAYOUT)] == [
        "/profiles/teams/nlp.yaml",
        "/overlays/*/teams/nlp/",
    ]


@pytest.mark.parametrize("fields", [{}, {"state": "retired"}])
def test_nobody_stated_is_no_entry(fields: dict[str, Any]) -> None:
    """A line without owners would take the file from everybody: GitHub's third state."""
    platform, _ = resolved({"teams/nlp.yaml": fields})

    assert list(entries(platform, LAYOUT)) == []
