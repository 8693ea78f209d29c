from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.calls import Ended, edit
from trainyard.cli.commands.verify import summary
from trainyard.workflows.committed import Count

Call = Callable[..., Ended]


@pytest.mark.thorough
def test_numbers_agree(tree: Path, trainyard: Call) -> None:
    """The line that a reviewer reads has the numbers that the document has, and they agree."""
    ended = trainyard("verify", "--format", "text", "--format", "json:report.json")
    written = json.loads((tree / "report.json").read_text())["result"]["clusters"]
    counts = {each["cluster"]: each for each in written}
    count = counts["prod-east"]

    assert (ended.code, ended.err) == (0, "")
    assert count["objects"] == count["valid"] == count["built"] == count["conform"] > 100
    assert ended.out.splitlines()[-2] == (
        f"prod-east: {count['objects']} objects, {count['objects']} valid against schemas,"
        f" {count['objects']} valid in kubeconform, 0 skipped; 6 of 6 sync units build;"
        f" {count['samples']} samples, 4 artifacts, {count['others']} other files"
    )
    assert sum(count["byUnit"].values()) == count["objects"]


def test_edited_tree_is_found(tree: Path, trainyard: Call) -> None:
    """One changed byte fails the verification."""
    edit(
        tree / "overlays" / "prod-east" / "teams" / "nlp" / "localqueue-gpu.yaml",
        "ml.example.com/team: nlp",
        "ml.example.com/team: nlq",
    )
    ended = trainyard("verify")

    assert ended.code == 1
    assert "  = note: edited --> overlays/prod-east/teams/nlp/localqueue-gpu.yaml\n" in ended.out


@pytest.mark.usefixtures("tree")
def test_missing_tool_is_no_success(trainyard: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINYARD_KUBECONFORM", "/nowhere/kubeconform")
    ended = trainyard("verify")

    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith(
        "error: kubeconform v0.7.0 is needed, but TRAINYARD_KUBECONFORM names no program"
    )


def _count(units: dict[str, int], left_out: tuple[str, ...] = (), files: int = 0) -> Count:
    objects = sum(units.values())
    return Count(
        cluster="prod-east",
        objects=objects,
        valid=objects,
        built=objects,
        conform=objects,
        skipped=0,
        units=len(units),
        units_built=len(units),
        samples=300,
        artifacts=12,
        others=405,
        by_unit=units,
        left_out=left_out,
        files_left_out=files,
    )


_OWN = {"argocd": 20, "nodes": 3, "platform": 890}


@given(st.integers(0, 300), st.integers(10, 40))
def test_summary_of_many_teams_fits_a_screen(teams: int, most: int) -> None:
    """Four clusters take at most 24 lines of 80 columns, and no object is missing in them."""
    units = {**_OWN, **{f"teams/team-{n}": min(most, 10 + n) for n in range(teams)}}
    lines = [line for _ in range(4) for line in summary(_count(units, tuple(units), 312), "1a2b3c")]
    assert sum(1 + (len(line) - 1) // 80 for line in lines) <= 24
    numbers = re.sub(r"teams/team-[0-9]+|[0-9]+ teams?|\([^)]*\)", "", lines[1])
    assert sum(map(int, re.findall(r"[0-9]+", numbers))) == sum(units.values())


@pytest.mark.parametrize(
    ("teams", "line"),
    [
        ({}, "  argocd 20, nodes 3, platform 890"),
        ({"nlp": 31}, "  argocd 20, nodes 3, platform 890, teams/nlp 31"),
        (
            {f"team-{number}": 30 for number in range(100)},
            "  argocd 20, nodes 3, platform 890, 100 teams 3000 (30 each)",
        ),
        (
            {f"team-{number}": 30 + number % 3 for number in range(100)},
            "  argocd 20, nodes 3, platform 890, 100 teams 3099 (30 to 32 each)",
        ),
    ],
)
def test_teams_that_do_not_fit_a_line_are_summed_up(teams: dict[str, int], line: str) -> None:
    units = {**_OWN, **{f"teams/{team}": objects for team, objects in teams.items()}}
    assert summary(_count(units), "")[1:] == [line]


def test_summary_says_what_was_left_out() -> None:
    lines = summary(_count({"teams/nlp": 31}, ("argocd", "platform"), 1), "1a2b3c4d5e")
    assert lines[2] == "  left out: 2 of 3 sync units and 1 file, as in commit 1a2b3c4d5e"
    assert summary(_count({}, ("argocd",)), "1a2b3c4d5e")[1] == "  no sync unit"


@pytest.mark.thorough
def test_changed_since_names_the_commit(tree: Path, trainyard: Call) -> None:
    """The document has the units that were left out."""
    for args in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        settings = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *settings, *args], cwd=tree, check=True)
    ended = trainyard(
        "verify", "--changed-since", "main", "--format", "text", "--format", "json:report.json"
    )
    counts = json.loads((tree / "report.json").read_text())["result"]["clusters"]
    assert (ended.code, ended.err) == (0, "")
    assert [len(count["leftOut"]) for count in counts] == [9, 6]
    assert [count["filesLeftOut"] for count in counts] == [39, 25]
    assert re.search(
        r"left out: 6 of 6 sync units and 25 files, as in commit [0-9a-f]{10}", ended.out
    )
    failed = trainyard("verify", "--changed-since", "nowhere")
    assert failed.code == 5
    assert "`nowhere` names no commit" in failed.err
