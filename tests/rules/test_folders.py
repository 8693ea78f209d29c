"""Folders of teams on NFS servers."""

from __future__ import annotations

from typing import Any

from tests.rules.cases import messages

RULE = "isolation/folder-around-another-team"
NLP = "teams/nlp.yaml"
VISION = "teams/vision.yaml"
CLUSTER = "clusters/prod-east.yaml"


def exports(**paths: str) -> dict[str, Any]:
    return {
        "storage": {
            name: {"nfs": {"server": "nfs.corp.internal", "path": path}}
            for name, path in paths.items()
        }
    }


def test_export_inside_another_is_no_matter_without_a_team_around_it() -> None:
    """The folder of each team is beside the inner export."""
    changes = {
        CLUSTER: exports(home="/export/home", projects="/export"),
        VISION: {"storage": {"projects": "1Ti"}},
    }

    assert messages(RULE, changes) == []


def test_own_folder_may_lie_inside_the_other() -> None:
    """A team sees its own files twice."""
    changes = {
        CLUSTER: exports(home="/export/vision", projects="/export"),
        NLP: {"storage": None},
        VISION: {"storage": {"home": "1Ti", "projects": "1Ti"}},
    }

    assert messages(RULE, changes) == []


def test_another_server_has_other_folders() -> None:
    """Paths are compared on one server."""
    projects = {"nfs": {"server": "other.corp.internal", "path": "/export"}}
    changes = {
        CLUSTER: {"storage": {**exports(home="/export/vision")["storage"], "projects": projects}},
        VISION: {"storage": {"projects": "1Ti"}},
    }

    assert messages(RULE, changes) == []


def test_teams_inside_are_counted() -> None:
    """One finding at the folder around them."""
    science = {
        "contact": "science@example.com",
        "groups": {"user": ["science"]},
        "storage": {"home": "1Ti"},
        "runtimes": ["openmpi-cuda"],
        "quota": {"prod-east": {"dgx-h100": {"nodes": 1}}},
    }
    changes = {
        CLUSTER: exports(home="/export/vision", projects="/export"),
        VISION: {"storage": {"projects": "1Ti"}},
        "teams/science.yaml": {
            **science,
            "contact": "s@example.com",
            "quota": {"prod-east": {"dgx-h100": {"nodes": 1}}},
        },
    }

    assert messages(RULE, changes) == [
        (
            "team vision gets folder /export/vision of nfs.corp.internal, which holds that of 2 other "
            "teams"
        )
    ]
