from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended, edit

Call = Callable[..., Ended]


def _rows(ended: Ended) -> dict[str, tuple[str, str]]:
    rows = (
        re.split(r" {2,}", line.strip()) for line in ended.out.splitlines() if line.startswith("  ")
    )
    return {name: (value, origin) for name, value, origin in rows}


@pytest.mark.usefixtures("repository")
def test_each_value_shows_where_it_comes_from(trainyard: Call) -> None:
    """A line of a profile, a default, or what follows from others."""
    ended = trainyard("show", "nlp")
    rows = _rows(ended)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("team nlp\n  state ")
    assert rows["state"] == ("active", "default")
    assert rows["largest job"] == ("16 nodes", "profiles/teams/nlp.yaml:12")
    assert rows["namespace"] == ("team-nlp", "derived")
    assert rows["cost center"] == ("RES-100", "profiles/teams/nlp.yaml:2")
    assert rows["dgx-h100: own"] == ("8 nodes", "profiles/teams/nlp.yaml:10")
    assert rows["dgx-h100: borrows at most"] == ("8 nodes", "profiles/teams/nlp.yaml:10")
    assert rows["dgx-h100: lends at most"] == ("8 nodes", "default")
    assert rows["dgx-h100: own nvidia.com/gpu"] == ("64", "profiles/hardware/dgx-h100.yaml:1")
    assert rows["runtime openmpi-cuda-v3-dgx-h100"][0] == "jobs up to 16 nodes, 128 GPUs"
    assert rows["network ib-rail-1"] == (
        "partition 0x0101, 10.64.2.0/23",
        "profiles/allocations.yaml:5",
    )
    assert rows["user ids"] == (
        "1000680000/10000, SELinux level s0:c26,c15",
        "profiles/allocations.yaml:9",
    )
    assert rows["storage home"] == ("2Ti at /mnt/home", "profiles/teams/nlp.yaml:13")
    assert rows["service account workbench"][0] == "role user, made by OpenShift AI"
    assert rows["egress api-server"][0] == "workspaces to 192.0.2.8/29, TCP 6443"


def test_draining_team_may_run_nothing(trainyard: Call, repository: Path) -> None:
    edit(repository / "profiles/teams/nlp.yaml", "contact:", "state: draining\ncontact:")
    rows = _rows(trainyard("show", "nlp"))

    assert rows["runtime openmpi-cuda-v3-dgx-h100"][0] == "no jobs: team nlp is draining"


def test_quota_for_a_time_shows_its_last_day(trainyard: Call, repository: Path) -> None:
    """With what is left afterwards, and the folder of a renamed team."""
    team = repository / "profiles/teams/nlp.yaml"
    edit(
        team, "nodes: 8, borrow", 'nodes: 8, until: "2027-01-31", reason: a paper, then: 6, borrow'
    )
    edit(team, "contact:", "folder: text\ncontact:")
    rows = _rows(trainyard("show", "nlp"))

    assert rows["dgx-h100: until"][0] == "2027-01-31, then 6 nodes; a paper"
    assert rows["folder"] == ("text", "profiles/teams/nlp.yaml:1")


@pytest.mark.usefixtures("repository")
def test_json_has_the_same_values(trainyard: Call) -> None:
    """The table and the document are one truth."""
    rows = _rows(trainyard("show", "vision"))
    document = json.loads(trainyard("show", "vision", "--format", "json").out)["result"]
    values = [value for section in document["sections"] for value in section["values"]]

    assert list(document) == ["team", "sections"]
    assert [section["title"] for section in document["sections"]] == [
        "team vision",
        "on cluster prod-east",
    ]
    assert rows == {
        each["name"]: (
            each["value"],
            f"{each['file']}:{each['line']}" if each["file"] else each["origin"],
        )
        for each in values
    }


@pytest.mark.usefixtures("repository")
def test_what_admins_may_claim_is_shown(trainyard: Call) -> None:
    """An admin who is refused a claim looks here."""
    assert (
        _rows(trainyard("show", "nlp"))["claims of scratch"][0] == "an admin may claim 4Ti in all"
    )


def test_retired_team_is_on_no_cluster(repository: Path, trainyard: Call) -> None:
    """Of a tombstone only the team itself is shown."""
    edit(repository / "profiles" / "teams" / "nlp.yaml", "contact:", "state: retired\ncontact:")
    ended = trainyard("show", "nlp")

    assert _rows(ended)["state"] == ("retired", "profiles/teams/nlp.yaml:1")
    assert "on cluster" not in ended.out


@pytest.mark.usefixtures("repository")
def test_unknown_team_names_the_nearest(trainyard: Call) -> None:
    """A misspelt team is answered with the right one."""
    message = (
        "error: there is no team `visio`; did you mean `vision`?\nTry `trainyard show --help`.\n"
    )
    assert trainyard("show", "visio") == Ended(2, "", message)


def test_broken_profiles_are_reported(repository: Path, trainyard: Call) -> None:
    edit(repository / "profiles" / "teams" / "nlp.yaml", "contact:", "contct:")
    ended = trainyard("show", "nlp")

    assert ended.code == 1
    assert (
        "error[shape/unknown-key]: unknown key `contct`\n --> profiles/teams/nlp.yaml:1:1\n"
        in ended.out
    )
    document = json.loads(trainyard("show", "nlp", "--format", "json").out)
    assert document["result"]["summary"]["errors"] == 2
