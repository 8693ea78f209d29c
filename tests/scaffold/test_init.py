from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.scaffold.folders import PRESET, RELEASE, begun, content, pairs_of_release_and_preset
from trainyard.cli.options import PRESETS, RELEASES
from trainyard.diagnostics import TreeError, has_errors
from trainyard.generation.generate import Generation, Target, generate
from trainyard.profiles.read import presets
from trainyard.scaffold.team_request import TeamRequest
from trainyard.scaffold.template import placeholders
from trainyard.workflows.add import add_teams
from trainyard.workflows.begin import ClusterWanted, begin


def generated(folder: Path) -> Generation:
    return generate(folder / "profiles", "../profiles/components")


@pytest.mark.parametrize(("release", "preset"), pairs_of_release_and_preset())
def test_new_repository_takes_a_team_that_owns_every_node(
    tmp_path: Path, release: str, preset: str
) -> None:
    """Each release with each node type gives a tree, and with a first team no error."""
    _takes_a_team(tmp_path, release, preset, 3)


@pytest.mark.parametrize(
    ("release", "preset", "nodes"), [*product(RELEASES, (PRESET, "cpu-node"), (2, 64, 1000))]
)
def test_new_repository_of_any_size_takes_a_team(
    tmp_path: Path, release: str, preset: str, nodes: int
) -> None:
    """Two nodes leave no reserve, and a thousand are as short to write."""
    _takes_a_team(tmp_path, release, preset, nodes)


def _takes_a_team(tmp_path: Path, release: str, preset: str, nodes: int) -> None:
    folder = tmp_path / "new" / "repository"
    assert all(path.is_file() for path in begun(folder, release, preset, nodes))
    generation = generated(folder)
    assert not has_errors(generation.diagnostics)
    assert "lab/README.md" in generation.files

    target = Target(folder / "profiles", folder / "overlays", "../profiles/components")
    promised = nodes - (nodes > 2)
    addition = add_teams(target, [TeamRequest("nlp", promised)], "2026-01-01")
    assert addition.plan
    rules = {diagnostic.rule for diagnostic in generated(folder).diagnostics}
    expected = {"delivery/placeholder-left"}
    fields = presets()[preset].value
    if "gpu" in fields and "nics" not in fields:
        expected.add("fabric/gpu-jobs-without-rails")
    if nodes == 2:
        expected.add("capacity/no-reserve")
    if nodes > 1 and preset in {"nvidia-gb200-tray", "nvidia-gb300-tray"}:
        expected.add("node/unused-nvlink")
    assert rules == expected


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_file_is_short_and_begins_with_a_comment(
    tmp_path: Path, release: str, preset: str
) -> None:
    """A file fits a screen."""
    for path in begun(tmp_path, release, preset):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# ")
        assert len(lines) <= 33
        assert max(map(len, lines)) <= 120
        assert all(lines)


def test_every_placeholder_says_what_belongs_there(tmp_path: Path) -> None:
    """The lines that the command lists are those that are marked."""
    for path, body in begin(tmp_path, "overlays", ClusterWanted(RELEASE, PRESET, 5)).items():
        marked = [
            number
            for number, line in enumerate(path.read_text().splitlines(), start=1)
            if "placeholder" in line
        ]
        listed = list(placeholders(body))
        assert [number for number, _ in listed] == marked
        assert all(what for _, what in listed)


def test_git_files_that_are_there_stay(tmp_path: Path) -> None:
    """A repository that has a .gitignore keeps it."""
    (tmp_path / ".gitignore").write_text("mine\n")
    written = begun(tmp_path)
    assert tmp_path / ".gitignore" not in written
    assert (tmp_path / ".gitignore").read_text() == "mine\n"
    assert (tmp_path / ".gitattributes") in written


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_profiles_that_are_there_are_never_touched(tmp_path: Path, kind: str) -> None:
    """The command stops before anything is written."""
    profiles = tmp_path / "profiles"
    if kind == "folder":
        profiles.mkdir()
    elif kind == "file":
        profiles.touch()
    else:
        profiles.symlink_to("nowhere")
    before = content(tmp_path)
    with pytest.raises(TreeError, match="profiles is there already"):
        begun(tmp_path)
    assert content(tmp_path) == before
