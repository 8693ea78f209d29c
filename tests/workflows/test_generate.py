"""The checks of the committed tree with which `generate --check` and `verify` begin."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.pages import ROOT
from trainyard.diagnostics import Severity
from trainyard.generation.generate import Target, generate
from trainyard.tree.write import write
from trainyard.workflows.generate import check_tree

COMPONENTS = "../profiles/components"


@pytest.fixture
def place(tmp_path: Path) -> Target:
    """The smallest example, with its tree."""
    profiles, target = tmp_path / "profiles", tmp_path / "overlays"
    shutil.copytree(ROOT / "examples/smallest/profiles", profiles)
    write(target, generate(profiles, COMPONENTS).files)
    return Target(profiles, target, COMPONENTS)


def _edit(place: Target) -> None:
    (place.target / "solo/README.md").write_text("x")


def _errors(place: Target, *, fresh: bool = True) -> list[str]:
    diagnostics = check_tree(place, "2026-09-21", fresh=fresh)[1]
    return sorted(each.rule for each in diagnostics if each.severity is Severity.ERROR)


def test_edited_file_matters_to_those_who_do_not_write(place: Target) -> None:
    assert _errors(place) == []
    _edit(place)
    assert _errors(place) == ["delivery/tree-is-stale"]
    assert _errors(place, fresh=False) == []


def test_submodule_is_reported_beside_all_else(place: Target) -> None:
    """One run shows both."""
    ghost = "overlays/solo/teams/ghost"
    root = place.target.parent
    (root / ghost).mkdir()
    entry = f"160000,{'1' * 40},{ghost}"
    for command in (["init", "--quiet"], ["update-index", "--add", "--cacheinfo", entry]):
        subprocess.run(["git", "-C", str(root), *command], check=True)

    assert _errors(place) == ["delivery/submodule"]
    _edit(place)
    assert _errors(place) == ["delivery/submodule", "delivery/tree-is-stale"]
