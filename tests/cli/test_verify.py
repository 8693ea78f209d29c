from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended, edit

Call = Callable[..., Ended]


@pytest.mark.thorough
def test_numbers_agree(tree: Path, trainyard: Call) -> None:
    """The line that a reviewer reads has the numbers that the document has, and they agree."""
    ended = trainyard("verify", "--format", "text", "--format", "json:report.json")
    counts = {
        each["cluster"]: each for each in json.loads((tree / "report.json").read_text())["result"]
    }
    count = counts["prod-east"]

    assert (ended.code, ended.err) == (0, "")
    assert count["objects"] == count["valid"] == count["built"] == count["conform"] > 100
    assert ended.out.splitlines()[-2] == (
        f"prod-east: {count['objects']} objects, {count['objects']} valid against schemas,"
        f" {count['objects']} valid in kubeconform, 0 skipped; 6 of 6 sync units build;"
        f" {count['samples']} samples, 0 artifacts, {count['others']} other files"
    )
    assert sum(count["by_unit"].values()) == count["objects"]


def test_edited_tree_is_found(tree: Path, trainyard: Call) -> None:
    """One changed byte fails the verification."""
    edit(
        tree / "overlays" / "prod-east" / "teams" / "nlp" / "localqueue-gpu.yaml",
        "nlp-gpu",
        "vision-gpu",
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
