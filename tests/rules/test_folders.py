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


def test_export_may_be_inside_another_if_no_team_has_the_outer_folder() -> None:
    """The folder of each team is next to the inner export, not around it."""
    changes = {
        CLUSTER: exports(home="/export/home", projects="/export"),
        VISION: {"storage": {"projects": "1Ti"}},
    }

    assert messages(RULE, changes) == []


def test_folder_may_be_inside_another_folder_of_the_same_team() -> None:
    """The team mounts its own files twice."""
    changes = {
        CLUSTER: exports(home="/export/vision", projects="/export"),
        NLP: {"storage": None},
        VISION: {"storage": {"home": "1Ti", "projects": "1Ti"}},
    }

    assert messages(RULE, changes) == []


def test_folders_of_two_servers_are_not_compared() -> None:
    projects = {"nfs": {"server": "other.corp.internal", "path": "/export"}}
    changes = {
        CLUSTER: {"storage": {**exports(home="/export/vision")["storage"], "projects": projects}},
        VISION: {"storage": {"projects": "1Ti"}},
    }

    assert messages(RULE, changes) == []


def test_outer_folder_has_one_finding_for_all_teams_inside() -> None:
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

    (message,) = messages(RULE, changes)
    assert message == (
        "team vision gets folder /export/vision of nfs.corp.internal, which contains that of 2 "
        "other teams"
    )
